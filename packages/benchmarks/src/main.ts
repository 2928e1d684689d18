/**
 * The benchmarks: `npm run bench`. Each row compares Effect MCP with other libraries at the same work, and with what the same work costs
 * without a library. Compare the ratios of one run; the figures depend on the machine. The exit code is 1 when a row is over its budget.
 *
 * - With a text, only the rows run whose names contain it: `npm run bench -- 2026-07-28`. `--json FILE` writes the results.
 * - `--markdown FILE` makes a page of up to three such files instead: `npm run bench -- --markdown docs/performance.md one.json two.json`.
 * - `--smoke` makes few calls: it checks that everything runs, and checks only the ratios that hold on a busy machine.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { parseArgs } from "node:util"
import * as nodes from "./nodes.js"
import { pageOf, type Run } from "./page.js"
import * as Report from "./Report.js"
import * as startup from "./startup.js"
import * as typecheck from "./typecheck.js"
import * as measure from "./works/measure.js"

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    smoke: { type: "boolean", default: false },
    json: { type: "string" },
    markdown: { type: "string" }
  }
})

const writePage = (to: string, files: ReadonlyArray<string>): void => {
  const runs = files.map((file): Run => JSON.parse(readFileSync(file, "utf8")))
  writeFileSync(to, pageOf(runs))
}

const measureAll = async (): Promise<boolean> => {
  const options = { smoke: values.smoke, text: positionals[0] ?? "" }
  const report = Report.make()
  const rounds = values.smoke ? 1 : measure.ROUNDS
  console.log(`Node ${process.version}; median of ${rounds}, the lowest and the highest`)
  const calls = () => measure.run(report, options)
  const starts = () => startup.run(report, options)
  const types = () => typecheck.run(report, options)
  // A smoke run has no narrow limits, so that these parts may run at the same time.
  for (const beside of values.smoke ? [[calls, starts, types]] : [[calls], [starts], [types]]) {
    await Promise.all(beside.map((run) => run()))
  }
  await nodes.run(report, options)
  if (values.json !== undefined) {
    const run: Run = { ...Report.circumstances(rounds), results: report.results() }
    writeFileSync(values.json, `${JSON.stringify(run, null, 2)}\n`)
  }
  return report.isOver()
}

if (values.markdown !== undefined) {
  writePage(values.markdown, positionals)
} else {
  const isOver = await measureAll()
  // The exit does not wait for what a row has left behind, such as a connection.
  process.exit(isOver ? 1 : 0)
}
