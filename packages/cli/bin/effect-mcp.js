#!/usr/bin/env node
// Starts the program. Node keeps what it compiles, from Node 22.1 on: a start takes a fifth less. The package has the program beside this
// file; a clone makes it of its sources, once: `node packages/cli/bundle.mjs` makes it anew.
import { existsSync } from "node:fs"
import module from "node:module"

module.enableCompileCache?.()
if (!existsSync(new URL("program.js", import.meta.url))) {
  process.stderr.write("This is a clone: the command line is made of its sources first\n")
  await import("../bundle.mjs")
}
await import("./program.js")
