"""The exercises of each lesson, one module a lesson: `EXERCISES` maps a letter to its properties and hints."""
