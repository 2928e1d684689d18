/** Measures works: every subject of a work in a process of its own, in rounds, so that load on the machine affects all of them. */
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { isOver, type Options, type Report, type Result, resultOf } from "../Report.js"
import { calls } from "./calls.js"
import { clients } from "./clients.js"
import { growth } from "./growth.js"
import { memory } from "./memory.js"
import { streams } from "./streams.js"
import { validation } from "./validation.js"
import type { Own, Work } from "./Work.js"

export const works: ReadonlyArray<Work> = [...calls, ...clients, ...streams, ...memory, ...growth, ...validation]

/** How often every subject is measured. */
export const ROUNDS = 5

/** How many milliseconds of processor time one measurement takes, after as many to warm up. */
const MILLISECONDS = 400

/** The same in a smoke run: the code of a subject is compiled only in part. */
const FEW_MILLISECONDS = 60

/** The heap is the same each time. */
const ROUNDS_OF_MEMORY = 1

/** How many are held open in a smoke run, of so many otherwise. */
const SHARE = 10

/** How long one measurement may last, which takes seconds: a call without an answer would hold up everything. In milliseconds. */
const LIMIT = 60_000

/** In a smoke run, how often a work is measured that is over a limit: other processes may have slowed it down. */
const ATTEMPTS = 3

const cell = fileURLToPath(new URL("../cell.js", import.meta.url))

const peersOf = (own: Own, work: Work): ReadonlyArray<string> => own.peers ?? work.peers

const nameOf = (own: Own, { name }: Work): string => own.name === undefined ? name : `${name}, ${own.name}`

const measure = (work: Work, subject: string, smoke: boolean): Promise<number> =>
  new Promise((resolve, reject) => {
    const count = work.count === undefined ? undefined : work.count / (smoke ? SHARE : 1)
    const amount = count ?? (smoke ? FEW_MILLISECONDS : MILLISECONDS)
    const child = spawn(
      process.execPath,
      ["--expose-gc", cell, work.kind, subject, String(work.inFlight ?? 1), String(amount)],
      {
        stdio: ["ignore", "pipe", "inherit"],
        timeout: LIMIT,
        killSignal: "SIGKILL",
        env: {
          ...process.env,
          ...(work.tool === undefined ? {} : { TOOL: work.tool }),
          ...(work.tools === undefined ? {} : { TOOLS: String(work.tools) })
        }
      }
    )
    let output = ""
    child.stdout.setEncoding("utf8").on("data", (text: string) => output += text)
    child.on("error", reject)
    child.on("close", (code, signal) => {
      if (code !== 0) return reject(new Error(`${work.kind} of ${subject} has ended with ${signal ?? code}`))
      const { figure }: { readonly figure: number } = JSON.parse(output)
      resolve(figure * (work.calls ?? 1) / (work.unit.startsWith("µs") ? 1 : 1000))
    })
  })

/** Measures all subjects of a work; gives its rows. */
const resultsOf = async (work: Work, owns: ReadonlyArray<Own>, smoke: boolean): Promise<ReadonlyArray<Result>> => {
  const subjects = new Set(owns.flatMap((own) => [
    own.subject,
    ...peersOf(own, work),
    ...(own.floor === undefined ? [] : [own.floor])
  ]))
  const samples = new Map<string, Array<number>>([...subjects].map((subject) => [subject, []]))
  const rounds = smoke ? 1 : work.count === undefined ? ROUNDS : ROUNDS_OF_MEMORY
  for (let round = 0; round < rounds; round++) {
    for (const [subject, values] of samples) values.push(await measure(work, subject, smoke))
  }
  return owns.map((own) => {
    const { topic, unit } = work
    const others = [...(own.floor === undefined ? [] : [own.floor]), ...peersOf(own, work)]
    const limits = (smoke ? own.smoke : own.budget) ?? {}
    return resultOf({
      topic,
      name: nameOf(own, work),
      unit,
      own: own.subject,
      ...(own.floor === undefined ? {} : { floor: own.floor }),
      ...(own.most === undefined || smoke ? {} : { most: own.most }),
      samples: new Map([own.subject, ...others].map((subject) => [subject, samples.get(subject) ?? []])),
      compared: others.map((other) => {
        const most = limits[other]
        return { own: own.subject, other, ...(most === undefined ? {} : { most }) }
      })
    })
  })
}

/** Runs the rows. */
export const run = async (report: Report, { smoke, text }: Options): Promise<void> => {
  const chosen = works.map((work) => ({ work, owns: work.owns.filter((own) => nameOf(own, work).includes(text)) }))
    .filter(({ owns }) => owns.length > 0)
  const next = chosen[Symbol.iterator]()
  const inTurn = async () => {
    for (const { owns, work } of next) {
      let results = await resultsOf(work, owns, smoke)
      for (let attempt = 1; smoke && attempt < ATTEMPTS && results.some(isOver); attempt++) {
        results = await resultsOf(work, owns, smoke)
      }
      for (const result of results) report.add(result)
    }
  }
  // Two at a time would disturb each other; a smoke run has wide limits.
  await Promise.all(Array.from({ length: smoke ? 2 : 1 }, inTurn))
}
