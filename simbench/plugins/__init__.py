"""Code of users that a scenario names: by an entry point, a module or a file.

`loading` says what there is to extend, and finds and imports what a reference names; `declarations` validates
what a plug-in declares.
"""
