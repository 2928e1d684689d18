#!/usr/bin/env node
// `npm create @effect-mcp` is the command `init` of the command line.
process.argv.splice(2, 0, "init")
await import("@effect-mcp/cli")
