// The run as a scene: bodies moved by forward kinematics, and what the log knows of forces and balance.

import {
  AmbientLight, BufferAttribute, BufferGeometry, CircleGeometry, Color, ConeGeometry, CylinderGeometry,
  DirectionalLight, DoubleSide, Group, HemisphereLight, Line, LineBasicMaterial, LineLoop, Matrix4, Mesh,
  MeshBasicMaterial, MeshStandardMaterial, OctahedronGeometry, PCFShadowMap, PerspectiveCamera, PlaneGeometry,
  Quaternion, RingGeometry, Scene, ShadowMaterial, SphereGeometry, Vector3, WebGLRenderer, GridHelper, Fog,
} from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { findSample } from "./data.js";

const BACKGROUND = "#e9edf1";
const COLOURS = {
  cog: "#1e64eb", zmp: "#e12323", support: "#14a050", target: "#0a8f5b", actor: "#e08a00", path: "#5b6b7a",
  feet: "#7a3fc0", grips: "#0072b2", equipment: "#d55e00", pushes: "#c01010", reference: "#3b82f6",
};
// Colours of the second and further runs where several are in one scene.
const RUN_TINTS = [null, "#e8590c", "#9c36b5", "#2b8a3e"];
const LENGTH_OF_WEIGHT = 0.45; // m
const LENGTH_OF_LARGEST = 0.3; // m
const ON_FLOOR = 0.004; // m
const TRAVELS = 0.6; // m
const NEARER = 4; // heights of the root

export const LAYERS = [
  ["forces", "contact forces", true],
  ["cog", "COG", true],
  ["zmp", "ZMP", true],
  ["support", "support polygon", true],
  ["targets", "hand targets", true],
  ["paths", "hand paths", false],
  ["reference", "reference", false],
  ["transparent", "see-through robot", false],
];

/** Round a number to 1, 2 or 5 times a power of ten. */
function round125(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  const digit = value / power;
  return power * (digit < 1.5 ? 1 : digit < 3.5 ? 2 : digit < 7.5 ? 5 : 10);
}

function readSurface(surface, data) {
  const codes = data.array(surface.points);
  const points = new Float32Array(codes.length);
  for (let k = 0; k < codes.length; k++) points[k] = surface.low[k % 3] + codes[k] * surface.step[k % 3];
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(points, 3));
  geometry.setAttribute("normal", new BufferAttribute(data.array(surface.normals), 3, true));
  if (surface.colours) {
    geometry.setAttribute("color", new BufferAttribute(data.array(surface.colours), 3, true));
  }
  geometry.setIndex(new BufferAttribute(data.array(surface.triangles), 1));
  return geometry;
}

function naturalMaterial(surface) {
  const options = { roughness: 0.62, metalness: 0.05 };
  if (surface.colours) return new MeshStandardMaterial({ ...options, vertexColors: true });
  const [red, green, blue] = surface.colour;
  return new MeshStandardMaterial({ ...options, color: new Color(`rgb(${red},${green},${blue})`) });
}

function ghostMaterial(colour, opacity) {
  return new MeshStandardMaterial({ color: colour, transparent: true, opacity, roughness: 0.8 });
}

function pose(numbers, matrix) {
  return matrix.compose(
    new Vector3(numbers[0], numbers[1], numbers[2]),
    new Quaternion(numbers[3], numbers[4], numbers[5], numbers[6]).normalize(),
    new Vector3(1, 1, 1),
  );
}

/** Arrow along +z of unit length, scaled to its force. */
class Arrow {
  constructor(colour) {
    // Forces of the floor act inside the robot's legs: arrows are seen through bodies.
    const material = new MeshStandardMaterial({ color: colour, roughness: 0.5, depthTest: false, transparent: true, opacity: 0.9 });
    this.shaft = new Mesh(new CylinderGeometry(0.009, 0.009, 1, 12).rotateX(Math.PI / 2), material);
    this.head = new Mesh(new ConeGeometry(0.024, 0.06, 16).rotateX(Math.PI / 2), material);
    this.shaft.renderOrder = this.head.renderOrder = 14;
    this.group = new Group();
    this.group.add(this.shaft, this.head);
  }

  set(point, vector) {
    const length = vector.length();
    this.group.visible = Number.isFinite(length) && length > 1e-3 && Number.isFinite(point.x);
    if (!this.group.visible) return;
    const tip = Math.min(1, length / 0.08);
    this.head.scale.setScalar(tip);
    this.head.position.z = length - 0.03 * tip;
    const shaft = Math.max(1e-4, length - 0.06 * tip);
    this.shaft.scale.set(tip, tip, shaft);
    this.shaft.position.z = 0.5 * shaft;
    this.group.position.copy(point);
    this.group.quaternion.setFromUnitVectors(new Vector3(0, 0, 1), vector.clone().divideScalar(length));
  }
}

/** Bodies and marks of one run. */
export class RunScene {
  constructor(run, number, data) {
    this.run = run;
    this.number = number;
    this.group = new Group();
    this.times = run.joints.time;
    const scene = run.scene;
    this.signals = {};
    for (const name of [
      "base", "plannedBase", "cog", "zmp", "plannedZmp", "plannedCog", "support", "palms", "targets", "actor",
    ]) {
      if (scene[name]) this.signals[name] = data.signals(scene[name]);
    }
    this.joints = scene.joints.map((joint) => ({
      ...joint, place: pose(joint.pose, new Matrix4()), axis: joint.axis && new Vector3(...joint.axis).normalize(),
    }));
    this.matrices = this.joints.map(() => new Matrix4());
    this.layers = { forces: new Group(), cog: new Group(), zmp: new Group(), support: new Group(),
      targets: new Group(), paths: new Group(), reference: new Group() };
    this.group.add(...Object.values(this.layers));
    this.addBodies(scene, data);
    this.addMarks(scene, data);
    this.index = 0;
    this.part = 0;
  }

  addBodies(scene, data) {
    const tint = RUN_TINTS[Math.min(this.number, RUN_TINTS.length - 1)];
    const overlaid = tint && ghostMaterial(tint, 0.42);
    const reference = ghostMaterial(COLOURS.reference, 0.38);
    this.bodies = [];
    this.ghosts = [];
    for (const body of scene.bodies) {
      const geometry = readSurface(body.surface, data);
      const natural = naturalMaterial(body.surface);
      const clear = natural.clone();
      Object.assign(clear, { transparent: true, opacity: 0.35, depthWrite: false });
      const mesh = new Mesh(geometry, natural);
      mesh.matrixAutoUpdate = false;
      mesh.castShadow = true;
      mesh.receiveShadow = true;
      const entry = { ...body, mesh, natural, clear, overlaid };
      if (body.track) entry.track = data.signals(body.track);
      else entry.place = pose(body.pose, new Matrix4());
      this.group.add(mesh);
      this.bodies.push(entry);
      if (body.robot) {
        const ghost = new Mesh(geometry, reference);
        ghost.matrixAutoUpdate = false;
        this.layers.reference.add(ghost);
        this.ghosts.push({ ...entry, mesh: ghost });
      }
    }
  }

  addMarks(scene, data) {
    const { layers, signals } = this;
    const over = (material) => Object.assign(material, { depthTest: false, transparent: true });
    const disc = (colour, radius, opacity = 1) => {
      const mesh = new Mesh(new CircleGeometry(radius, 32), new MeshBasicMaterial({ color: colour, opacity }));
      over(mesh.material);
      mesh.renderOrder = 11;
      return mesh;
    };
    const ring = (colour, radius) => {
      const material = over(new MeshBasicMaterial({ color: colour, opacity: 0.8 }));
      const mesh = new Mesh(new RingGeometry(0.75 * radius, radius, 32), material);
      mesh.renderOrder = 10;
      return mesh;
    };
    this.marks = [];
    const onFloor = (name, mesh, layer) => {
      if (!signals[name]) return;
      layers[layer].add(mesh);
      this.marks.push({ mesh, channels: [signals[name][0], signals[name][1]], height: ON_FLOOR });
    };
    onFloor("plannedCog", ring(COLOURS.cog, 0.028), "cog");
    onFloor("plannedZmp", ring(COLOURS.zmp, 0.026), "zmp");
    onFloor("cog", disc(COLOURS.cog, 0.017), "cog");
    onFloor("zmp", disc(COLOURS.zmp, 0.017), "zmp");
    if (signals.cog) {
      const ball = new Mesh(
        new SphereGeometry(0.024, 24, 16), over(new MeshBasicMaterial({ color: COLOURS.cog, opacity: 0.85 })),
      );
      ball.renderOrder = 12;
      this.plumb = new Line(new BufferGeometry(), over(new LineBasicMaterial({ color: COLOURS.cog, opacity: 0.7 })));
      this.plumb.geometry.setAttribute("position", new BufferAttribute(new Float32Array(6), 3));
      this.plumb.frustumCulled = false;
      this.plumb.renderOrder = 12;
      layers.cog.add(ball, this.plumb);
      this.marks.push({ mesh: ball, channels: signals.cog });
    }
    if (signals.support) {
      const corners = signals.support.length / 2;
      const points = new BufferAttribute(new Float32Array(3 * corners), 3);
      const fill = new BufferGeometry();
      fill.setAttribute("position", points);
      const fan = [];
      for (let k = 1; k < corners - 1; k++) fan.push(0, k, k + 1);
      fill.setIndex(fan);
      const area = over(new MeshBasicMaterial({ color: COLOURS.support, opacity: 0.28, side: DoubleSide }));
      this.area = new Mesh(fill, area);
      const edge = new BufferGeometry();
      edge.setAttribute("position", points);
      this.edge = new LineLoop(edge, over(new LineBasicMaterial({ color: COLOURS.support, opacity: 1 })));
      for (const object of [this.area, this.edge]) {
        object.frustumCulled = false;
        object.renderOrder = 9;
      }
      layers.support.add(this.area, this.edge);
    }
    this.addHands();
    this.addForces(scene, data);
  }

  addHands() {
    const { layers, signals } = this;
    for (const [name, colour, shape] of [
      ["targets", COLOURS.target, () => new OctahedronGeometry(0.024)],
      ["actor", COLOURS.actor, () => new SphereGeometry(0.016, 20, 12)],
    ]) {
      for (let hand = 0; signals[name] && 3 * hand < signals[name].length; hand++) {
        const material = new MeshBasicMaterial({ color: colour, transparent: true, opacity: 0.85, depthTest: false });
        const mesh = new Mesh(shape(), material);
        mesh.renderOrder = 13;
        layers.targets.add(mesh);
        this.marks.push({ mesh, channels: signals[name].slice(3 * hand, 3 * hand + 3) });
      }
    }
    for (const [name, colour] of [["palms", COLOURS.path], ["targets", COLOURS.target]]) {
      for (let hand = 0; signals[name] && 3 * hand < signals[name].length; hand++) {
        const [x, y, z] = signals[name].slice(3 * hand, 3 * hand + 3);
        const points = [];
        for (let k = 0; k < x.length; k++) if (Number.isFinite(x[k])) points.push(new Vector3(x[k], y[k], z[k]));
        if (points.length < 2) continue;
        const line = new Line(new BufferGeometry().setFromPoints(points), new LineBasicMaterial({ color: colour }));
        layers.paths.add(line);
      }
    }
  }

  addForces(scene, data) {
    const largest = { hands: 0 };
    this.forces = scene.forces.map((force) => {
      const arrow = new Arrow(COLOURS[force.layer]);
      this.layers.forces.add(arrow.group);
      const vectors = data.signals(force.force);
      if (force.layer !== "feet") {
        for (let k = 0; k < vectors[0].length; k++) {
          const size = Math.hypot(vectors[0][k], vectors[1][k], vectors[2][k]);
          if (size > largest.hands) largest.hands = size;
        }
      }
      return { ...force, arrow, point: data.signals(force.point), vectors };
    });
    // Newtons that an arrow of one metre stands for: the hands' forces are much smaller than the weight.
    this.newtons = {
      feet: scene.weight > 0 ? round125(scene.weight / LENGTH_OF_WEIGHT) : 1000,
      other: largest.hands > 0 ? round125(largest.hands / LENGTH_OF_LARGEST) : 100,
    };
  }

  value(channel) {
    const before = channel[this.index];
    const after = channel[Math.min(this.index + 1, channel.length - 1)];
    return this.part > 0 ? before + this.part * (after - before) : before;
  }

  seek(time) {
    const { times } = this;
    this.index = findSample(times, time);
    const next = Math.min(this.index + 1, times.length - 1);
    const span = times[next] - times[this.index];
    this.part = span > 0 ? Math.min(1, Math.max(0, (time - times[this.index]) / span)) : 0;
    this.moveBodies(this.bodies, this.signals.base, this.run.joints.position);
    if (this.layers.reference.visible) {
      this.moveBodies(this.ghosts, this.signals.plannedBase, this.run.joints.reference);
    }
    this.moveMarks();
  }

  moveBodies(bodies, base, positions) {
    const turn = new Matrix4();
    this.matrices[0].copy(pose(base.map((channel) => this.value(channel)), turn));
    for (let k = 1; k < this.joints.length; k++) {
      const joint = this.joints[k];
      this.matrices[k].multiplyMatrices(this.matrices[joint.parent], joint.place);
      if (joint.column < 0) continue;
      const position = this.value(positions[joint.column]);
      if (joint.slides) turn.makeTranslation(joint.axis.x * position, joint.axis.y * position, joint.axis.z * position);
      else turn.makeRotationAxis(joint.axis, position);
      this.matrices[k].multiply(turn);
    }
    for (const body of bodies) {
      if (body.track) pose(body.track.map((channel) => this.value(channel)), body.mesh.matrix);
      else if (body.robot) body.mesh.matrix.multiplyMatrices(this.matrices[body.joint], body.place);
      else body.mesh.matrix.copy(body.place);
      body.mesh.matrixWorldNeedsUpdate = true;
    }
  }

  moveMarks() {
    for (const { mesh, channels, height } of this.marks) {
      const [x, y, z] = channels.map((channel) => this.value(channel));
      mesh.visible = Number.isFinite(x);
      if (mesh.visible) mesh.position.set(x, y, height ?? z);
    }
    if (this.plumb) {
      const [x, y, z] = this.signals.cog.map((channel) => this.value(channel));
      this.plumb.geometry.attributes.position.array.set([x, y, z, x, y, ON_FLOOR]);
      this.plumb.geometry.attributes.position.needsUpdate = true;
    }
    if (this.area) this.moveSupport();
    for (const force of this.forces) {
      const newtons = force.layer === "feet" ? this.newtons.feet : this.newtons.other;
      const vector = new Vector3(...force.vectors.map((channel) => this.value(channel))).divideScalar(newtons);
      force.arrow.set(new Vector3(...force.point.map((channel) => this.value(channel))), vector);
    }
  }

  moveSupport() {
    // Polygons of neighbouring samples differ in their corners: the last one is shown, not one in between.
    const corners = [];
    const { support } = this.signals;
    for (let k = 0; k < support.length; k += 2) {
      const x = support[k][this.index];
      if (Number.isFinite(x)) corners.push(x, support[k + 1][this.index], 0.5 * ON_FLOOR);
    }
    const shown = corners.length >= 9;
    this.area.visible = this.edge.visible = shown;
    if (!shown) return;
    const points = this.area.geometry.attributes.position;
    points.array.set(corners);
    points.needsUpdate = true;
    this.area.geometry.setDrawRange(0, corners.length - 6);
    this.edge.geometry.setDrawRange(0, corners.length / 3);
  }

  /** Draw the run as it is, or tinted and half transparent as the second one in the same scene. */
  setStyle(overlaid, transparent) {
    for (const body of this.bodies) {
      const clear = transparent && body.robot;
      body.mesh.material = overlaid && body.overlaid ? body.overlaid : clear ? body.clear : body.natural;
      body.mesh.castShadow = !(overlaid && body.overlaid);
      // Furniture that stands in the first run already is not drawn into it once more.
      body.mesh.visible = !(overlaid && body.overlaid && body.shared);
    }
  }

  root() {
    return this.signals.base.slice(0, 3).map((channel) => this.value(channel));
  }
}

/** The scene of all runs in a canvas. Throws if the browser has no WebGL. */
export class Viewer {
  constructor(host, runs, data) {
    this.host = host;
    this.renderer = new WebGLRenderer({ antialias: true, preserveDrawingBuffer: false });
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio || 1, 2));
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = PCFShadowMap;
    host.append(this.renderer.domElement);
    this.scene = new Scene();
    this.scene.background = new Color(BACKGROUND);
    this.runs = runs.map((run, number) => run.scene && new RunScene(run, number, data));
    this.shown = this.runs.filter(Boolean);
    for (const run of this.shown) this.scene.add(run.group);
    this.findShared();
    this.start = this.shown[0].run.scene.camera;
    this.view = "overlay";
    this.layers = Object.fromEntries(LAYERS.map(([name, , on]) => [name, on]));
    this.camera = new PerspectiveCamera(this.start.fov, 1, 0.02, 120);
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, this.renderer.domElement);
    this.controls.enableDamping = false;
    this.controls.maxDistance = 40;
    this.controls.minDistance = 0.1;
    this.controls.addEventListener("change", () => this.draw());
    this.addLights();
    const travel = this.shown.map((run) => {
      const [x, y] = run.signals.base;
      return Math.hypot(Math.max(...x) - Math.min(...x), Math.max(...y) - Math.min(...y));
    });
    this.follow = Math.max(...travel) > TRAVELS;
    this.seek(0);
    this.resetView();
    new ResizeObserver(() => this.resize()).observe(host);
    this.resize();
    this.applyLayers();
  }

  /** Mark the bodies of further runs that stand where those of the first run do. */
  findShared() {
    const [first, ...others] = this.shown;
    const key = (body) => `${body.name} ${body.track ? "moves" : body.pose}`;
    const known = new Set(first.bodies.filter((body) => !body.robot && !body.track).map(key));
    for (const run of others) for (const body of run.bodies) body.shared = known.has(key(body));
  }

  addLights() {
    this.scene.fog = new Fog(BACKGROUND, 4 * this.start.distance, 13 * this.start.distance);
    this.scene.add(new HemisphereLight("#ffffff", "#b9c2cc", 1.7), new AmbientLight("#ffffff", 0.35));
    this.light = new DirectionalLight("#ffffff", 2.1);
    this.light.castShadow = true;
    this.light.shadow.mapSize.set(1024, 1024);
    Object.assign(this.light.shadow.camera, { left: -1.6, right: 1.6, top: 1.8, bottom: -1.6, near: 0.5, far: 12 });
    this.light.shadow.bias = -0.0008;
    this.light.shadow.normalBias = 0.012;
    this.scene.add(this.light, this.light.target);
    const floor = new Mesh(new PlaneGeometry(80, 80), new MeshBasicMaterial({ color: "#f2f4f6" }));
    floor.position.z = -0.002;
    const shadow = new Mesh(new PlaneGeometry(80, 80), new ShadowMaterial({ opacity: 0.22 }));
    shadow.receiveShadow = true;
    const grid = new GridHelper(40, 80, "#c3ccd4", "#d9dfe5");
    grid.rotation.x = Math.PI / 2;
    grid.position.z = 0.0005;
    this.scene.add(floor, shadow, grid);
  }

  /** Look as the scenario's camera does, or along an axis: `start`, `front`, `side`, `top`. */
  resetView(name = "start") {
    const { target, distance, yaw, pitch } = this.start;
    const angles = {
      start: [yaw, pitch], front: [90, -8], side: [0, -8], top: [-90, -89.9],
    }[name];
    const [turn, tilt] = angles.map((angle) => (angle * Math.PI) / 180);
    const forward = new Vector3(-Math.sin(turn) * Math.cos(tilt), Math.cos(turn) * Math.cos(tilt), Math.sin(tilt));
    const middle = new Vector3(...target);
    let away = distance;
    if (this.follow) {
      const [x, y, z] = this.shown[0].root();
      middle.setX(x).setY(y);
      // The scenario's camera may see the whole way; one that goes with the robot can be nearer.
      away = Math.min(away, NEARER * Math.max(z, 0.2));
    }
    this.controls.target.copy(middle);
    this.camera.position.copy(middle).addScaledVector(forward, -away);
    this.controls.update();
    this.draw();
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.host;
    if (!width || !height) return;
    this.renderer.setSize(width, height);
    this.draw();
  }

  seek(time) {
    this.time = time;
    for (const run of this.shown) run.seek(time);
    const [x, y, z] = this.shown[0].root();
    if (this.follow && this.last) {
      const step = new Vector3(x - this.last[0], y - this.last[1], 0);
      this.controls?.target.add(step);
      this.camera.position.add(step);
    }
    this.last = [x, y, z];
    this.light.position.set(x - 1.6, y - 2.2, z + 4);
    this.light.target.position.set(x, y, 0.5 * z);
    this.draw();
  }

  setFollow(on) {
    this.follow = on;
  }

  setLayer(name, on) {
    this.layers[name] = on;
    this.applyLayers();
  }

  setView(view) {
    this.view = view;
    this.applyLayers();
  }

  applyLayers() {
    for (const run of this.shown) {
      for (const [name, group] of Object.entries(run.layers)) group.visible = this.layers[name];
      run.setStyle(this.view === "overlay", this.layers.transparent);
      run.seek(this.time);
    }
    this.draw();
  }

  /** Which layers have something to show in any of the runs. */
  available() {
    return LAYERS.filter(([name]) => name === "transparent"
      || this.shown.some((run) => run.layers[name].children.length > 0));
  }

  draw() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.render();
    });
  }

  render() {
    const { clientWidth: width, clientHeight: height } = this.host;
    if (!width || !height) return;
    const views = this.view === "side" ? this.shown.length : 1;
    const aspect = width / views / height;
    this.camera.aspect = aspect;
    // In a narrow view, the field of view is widened so that as much is seen sideways as upwards.
    const slope = Math.tan((this.start.fov * Math.PI) / 360) * Math.max(1, 1 / aspect);
    this.camera.fov = (360 / Math.PI) * Math.atan(slope);
    this.camera.updateProjectionMatrix();
    this.renderer.setScissorTest(views > 1);
    for (let view = 0; view < views; view++) {
      const left = (view * width) / views;
      this.renderer.setViewport(left, 0, width / views, height);
      this.renderer.setScissor(left, 0, width / views, height);
      this.shown.forEach((run, number) => {
        run.group.visible = views === 1 || number === view;
      });
      this.renderer.render(this.scene, this.camera);
    }
    for (const run of this.shown) run.group.visible = true;
    this.frames = (this.frames ?? 0) + 1;
  }

  /** World matrix of each body of a run by name, row by row, as it is drawn now. */
  bodyPoses(number) {
    const poses = {};
    for (const body of this.runs[number]?.bodies ?? []) {
      poses[body.name] = body.mesh.matrix.clone().transpose().toArray();
    }
    return poses;
  }
}
