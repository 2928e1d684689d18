#!/usr/bin/env node
/**
 * The program `effect-mcp`. `Cli` reads the words of the command line and runs a command. Ctrl+C interrupts the command, and the command
 * then closes its connections. The exit code says how the command ended.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Exit from "effect/Exit"
import { run } from "./Cli.js"
import { guard, say } from "./CommandOutput.js"

// In `effect-mcp inspect … | head` the reader ends before the command. The command must still close its connections.
process.stdout.on("error", () => {})
process.stderr.on("error", () => {})
guard()

// Node itself would print the error without escaping it.
process.on("uncaughtException", (error) => {
  say(
    process.stderr,
    `A defect of this program: ${error instanceof Error ? error.stack ?? error.message : String(error)}`
  )
  process.exit(70)
})

NodeRuntime.runMain(run(process.argv.slice(2)), {
  disableErrorReporting: true,
  disablePrettyLogger: true,
  teardown: (exit, end) => end(Exit.isSuccess(exit) ? Number(exit.value) : 130)
})
