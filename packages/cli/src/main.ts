#!/usr/bin/env node
/**
 * The program `effect-mcp`. Ctrl+C interrupts the command, which closes its connections; the exit code says how it ended.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Exit from "effect/Exit"
import { run } from "./Cli.js"

NodeRuntime.runMain(run(process.argv.slice(2)), {
  disableErrorReporting: true,
  disablePrettyLogger: true,
  teardown: (exit, end) => end(Exit.isSuccess(exit) ? Number(exit.value) : 130)
})
