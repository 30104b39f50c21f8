
(async () => {
  const open = async (id) => {
    const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).arrayBuffer();
  };
  const say = (text) => {
    const note = document.createElement("p");
    note.className = "note";
    note.textContent = text;
    document.getElementById("player").append(note);
  };
  try {
    if (typeof DecompressionStream === "undefined") {
      say("This browser is too old for scene and plots; Chromium 90, Firefox 113 and Safari 16.4 show them.");
      return;
    }
    const script = document.createElement("script");
    script.textContent = new TextDecoder().decode(await open("simbench-script"));
    document.head.append(script);
    window.simbenchReport.start(await open("simbench-data"));
  } catch (error) {
    say("The scene and the plots could not be built: " + error);
    throw error;
  }
})();
