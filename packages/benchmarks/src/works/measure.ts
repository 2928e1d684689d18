/**
 * Measures works: every subject of a work in a process of its own, in rounds, so that load on the machine affects all subjects. `Work` says
 * what a work is, and the other modules of this folder have the works.
 */
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
export const ROUNDS = 3

/** How many milliseconds of processor time one measurement takes, after as many or more to warm up. */
const MILLISECONDS = 700

/** How many milliseconds of processor time one measurement takes in a smoke run: the code of a subject is compiled only in part. */
const FEW_MILLISECONDS = 30

/** How often the memory of a subject is measured: the heap is the same each time. */
const ROUNDS_OF_MEMORY = 1

/** By how much a smoke run divides the number of things that are held open. */
const SHARE = 20

/** How many milliseconds one measurement may last. It takes seconds, but a call without an answer would stop everything. */
const LIMIT = 60_000

/** How often a smoke run measures a work that is over a limit: other processes may have slowed it down. */
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
      // The official clients add a listener for each call over HTTP, and Node would print a warning each time.
      ["--expose-gc", "--no-warnings", cell, work.kind, subject, String(work.inFlight ?? 1), String(amount)],
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

/** The subjects of a row, ours first. */
const subjectsOf = (own: Own, work: Work): ReadonlyArray<string> => [
  own.subject,
  ...(own.floor === undefined ? [] : [own.floor]),
  ...peersOf(own, work)
]

/** The name of the program that a subject runs. Subjects of several works may run the same program. */
const programOf = ({ kind }: Work, subject: string): string =>
  `${/^(http|stdio|memory)/.exec(kind)?.[0] ?? kind} ${subject}`

/** A row, and the subjects that are measured for it. */
interface Chosen {
  readonly own: Own
  readonly subjects: ReadonlyArray<string>
}

interface ChosenWork {
  readonly work: Work
  readonly rows: ReadonlyArray<Chosen>
}

const choose = ({ smoke, text }: Options): ReadonlyArray<ChosenWork> => {
  const measured = new Set<string>()
  /** A smoke run measures the program of a peer once, and again only where the row has a limit for the peer. */
  const isMeasured = (own: Own, work: Work) => (subject: string): boolean => {
    const isNeeded = subject === own.subject || subject === own.floor || own.smoke?.[subject] !== undefined
    const program = programOf(work, subject)
    const isNew = !measured.has(program)
    measured.add(program)
    return !smoke || isNeeded || isNew
  }
  return works.map((work) => ({
    work,
    rows: work.owns.filter((own) => nameOf(own, work).includes(text))
      .map((own) => ({ own, subjects: subjectsOf(own, work).filter(isMeasured(own, work)) }))
  })).filter(({ rows }) => rows.length > 0)
}

/** Measures all subjects of a work, and returns its rows. */
const resultsOf = async ({ rows, work }: ChosenWork, smoke: boolean): Promise<ReadonlyArray<Result>> => {
  const subjects = new Set(rows.flatMap((row) => row.subjects))
  const samples = new Map<string, Array<number>>([...subjects].map((subject) => [subject, []]))
  const rounds = smoke ? 1 : work.count === undefined ? ROUNDS : ROUNDS_OF_MEMORY
  for (let round = 0; round < rounds; round++) {
    for (const [subject, values] of samples) values.push(await measure(work, subject, smoke))
  }
  return rows.map(({ own, subjects }) => {
    const { topic, unit } = work
    const limits = (smoke ? own.smoke : own.budget) ?? {}
    return resultOf({
      topic,
      name: nameOf(own, work),
      unit,
      own: own.subject,
      ...(own.floor === undefined ? {} : { floor: own.floor }),
      ...(own.most === undefined || smoke ? {} : { most: own.most }),
      samples: new Map(subjects.map((subject) => [subject, samples.get(subject) ?? []])),
      compared: subjects.slice(1).map((other) => {
        const most = limits[other]
        return { own: own.subject, other, ...(most === undefined ? {} : { most }) }
      })
    })
  })
}

/** Runs the rows. */
export const run = async (report: Report, options: Options): Promise<void> => {
  const { smoke } = options
  const next = choose(options)[Symbol.iterator]()
  const inTurn = async () => {
    for (const chosen of next) {
      let results = await resultsOf(chosen, smoke)
      for (let attempt = 1; smoke && attempt < ATTEMPTS && results.some(isOver); attempt++) {
        results = await resultsOf(chosen, smoke)
      }
      for (const result of results) report.add(result)
    }
  }
  // Two at a time would disturb each other; a smoke run has wide limits.
  await Promise.all(Array.from({ length: smoke ? 2 : 1 }, inTurn))
}
