"""Code of users that a scenario names: by an entry point, a module or a file.

`groups` says what there is to extend, `loading` finds and imports what a reference names, `options` validates
what a plug-in declares, `given` keeps objects that a program passes instead of naming them.
"""
