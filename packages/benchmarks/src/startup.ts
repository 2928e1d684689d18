/**
 * The rows about the start of a server over stdio: the processor time and the memory of a process that starts, answers `initialize` and one
 * call, and ends with its input. Further rows are about the sizes of bundles. Our server uses the packages as they are published, which
 * `scripts/flat.mjs` writes. It is compared with the official SDKs, and with programs that only import Effect, because no server on Effect
 * can start faster than these programs.
 */
import { build, type Metafile } from "esbuild"
import { spawn, spawnSync } from "node:child_process"
import { copyFileSync, mkdirSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { type Options, type Report, resultOf } from "./Report.js"

interface Start {
  readonly milliseconds: number
  readonly mebibytes: number
}

interface Subject {
  readonly name: string
  readonly file: string
  /** Whether the program is a server: then its answers are checked. */
  readonly answers: boolean
}

const NAME = "start of a server over stdio"

/**
 * What our processor time is compared with, in the same round, and the highest ratios. For "effect" and "effect-modules" we want 1.45 and
 * 1.25, and reach 1.48 and 1.29. The lowest possible ratios are 1.21 and 1.07: these are the ratios of a server of one file, on the same
 * modules of Effect, that reads, checks and answers only these three messages. The difference is 60 ms, and the schemas of the protocol
 * take half of it.
 */
const COMPARED: ReadonlyArray<{ readonly own: string; readonly other: string; readonly most?: number }> = [
  { own: "own", other: "node" },
  { own: "own", other: "effect", most: 1.52 },
  { own: "own", other: "effect-modules", most: 1.33 },
  { own: "own", other: "sdk1" },
  { own: "own", other: "sdk2" },
  { own: "own-bundled", other: "node" },
  { own: "own-bundled", other: "sdk1-bundled" },
  { own: "own-bundled", other: "sdk2-bundled", most: 1.15 }
]

/** By how many MiB our process may be larger than the process of the SDK, version 2. We want 20; the modules of Effect alone take 10. */
const MORE_MEMORY = 22

/**
 * How many kilobytes our bundles may have. We want 460 for the server and 430 for the client. Effect alone takes 255 kB of the server's
 * bundle (246 kB in a server of one file). Effect and its HTTP client take 274 kB of the client's bundle.
 */
const KILOBYTES: Readonly<Record<string, number>> = { own: 505, browser: 510 }

const root = fileURLToPath(new URL("../../..", import.meta.url))
const compiled = fileURLToPath(new URL("startup", import.meta.url))
/** In this folder, imports of our packages find the packages as they are published. */
const release = join(root, "build/release")
const programs = join(release, "programs")

const message = (value: object): string => `${JSON.stringify({ jsonrpc: "2.0", ...value })}\n`

const input = [
  {
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "bench", version: "1.0.0" } }
  },
  { method: "notifications/initialized" },
  { id: 2, method: "tools/call", params: { name: "add", arguments: { a: 2, b: 3 } } }
].map(message).join("")

const start = ({ answers, file, name }: Subject): Promise<Start> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ["--import", join(compiled, "report.js"), file], {
      stdio: ["pipe", "pipe", "inherit", "pipe"],
      timeout: 60_000,
      killSignal: "SIGKILL"
    })
    const [stdin, stdout, , used] = child.stdio
    let answered = ""
    let report = ""
    stdout!.on("data", (text: Buffer) => answered += text.toString())
    used!.on("data", (text: Buffer) => report += text.toString())
    stdin!.on("error", () => {})
    stdin!.end(input)
    child.on("close", (code) => {
      const isRight = !answers || answered.includes("\"structuredContent\":{\"sum\":5}")
      if (report === "" || !isRight) reject(new Error(`${name} has ended with ${code}, and said ${answered}`))
      else resolve(JSON.parse(report) as Start)
    })
  })

/** The modules of Effect that our packages and the program import, of all modules in a bundle. */
const modulesOfEffect = ({ inputs }: Metafile): ReadonlyArray<string> => [
  ...new Set(
    Object.entries(inputs).filter(([path]) => path.includes("release/")).flatMap(([, { imports }]) =>
      imports.flatMap(({ original = "" }) => /^@?effect\//.test(original) ? [original] : [])
    )
  )
]

const importing = (name: string, modules: ReadonlyArray<string>): string => {
  const file = join(programs, `${name}.js`)
  const names = modules.map((_, index) => `M${index}`)
  const imports = modules.map((module, index) => `import * as ${names[index]} from ${JSON.stringify(module)}\n`)
  writeFileSync(file, `${imports.join("")}if ([${names}].includes(undefined)) process.exitCode = 1\n`)
  return file
}

const bundle = async (file: string, platform: "browser" | "node" = "node") => {
  const outfile = file.replace(/\.js$/, ".bundle.mjs").replace(compiled, programs)
  const { metafile } = await build({
    entryPoints: [file],
    outfile,
    bundle: true,
    platform,
    format: "esm",
    minify: true,
    logLevel: "error",
    metafile: true
  })
  return { file: outfile, metafile, kilobytes: statSync(outfile).size / 1000 }
}

/** Runs the rows. */
export const run = async (report: Report, { smoke, text }: Options): Promise<void> => {
  if (!NAME.includes(text)) return
  const { status } = spawnSync(process.execPath, [join(root, "scripts/flat.mjs")], {
    stdio: ["ignore", "ignore", "inherit"]
  })
  if (status !== 0) throw new Error(`scripts/flat.mjs has ended with ${status}`)
  mkdirSync(programs)
  for (const name of ["own", "browser"]) copyFileSync(join(compiled, `${name}.js`), join(programs, `${name}.js`))
  const own = join(programs, "own.js")
  const [sdk1, sdk2] = [join(compiled, "sdk1.js"), join(compiled, "sdk2.js")]
  const bundles = {
    own: await bundle(own),
    sdk1: await bundle(sdk1),
    sdk2: await bundle(sdk2),
    browser: await bundle(join(programs, "browser.js"), "browser")
  }
  const modules = modulesOfEffect(bundles.own.metafile)
  const subjects: ReadonlyArray<Subject> = [
    { name: "own", file: own, answers: true },
    { name: "effect", file: importing("effect", ["effect/Effect", "effect/Layer", "effect/Schema"]), answers: false },
    { name: "effect-modules", file: importing("effect-modules", modules), answers: false },
    { name: "sdk1", file: sdk1, answers: true },
    { name: "sdk2", file: sdk2, answers: true },
    { name: "own-bundled", file: bundles.own.file, answers: true },
    { name: "sdk1-bundled", file: bundles.sdk1.file, answers: true },
    { name: "sdk2-bundled", file: bundles.sdk2.file, answers: true },
    { name: "node", file: importing("node", []), answers: false }
  ]
  const starts = new Map<string, Array<Start>>(subjects.map(({ name }) => [name, []]))
  for (let round = 0; round < (smoke ? 1 : 7); round++) {
    for (const subject of subjects) starts.get(subject.name)!.push(await start(subject))
  }
  const of = (figure: (start: Start) => number) => new Map([...starts].map(([name, all]) => [name, all.map(figure)]))
  const topic = "starts"
  const times = of(({ milliseconds }) => milliseconds)
  for (const [own, suffix] of [["own", ""], ["own-bundled", ", bundled"]] as const) {
    const isBundled = suffix !== ""
    report.add(resultOf({
      topic,
      name: `${NAME}${suffix}`,
      unit: "ms of processor time",
      own,
      floor: "node",
      samples: new Map([...times].filter(([name]) => name === "node" || name.endsWith("-bundled") === isBundled)),
      compared: COMPARED.filter((one) => one.own === own)
        .map(({ most, other }) => ({ own, other, ...(smoke || most === undefined ? {} : { most }) }))
    }))
  }
  const mebibytes = of((start) => start.mebibytes)
  const [ours, theirs] = [mebibytes.get("own") ?? [], mebibytes.get("sdk2") ?? []]
  report.add(resultOf({
    topic,
    name: `${NAME}, memory of the process`,
    unit: "MiB",
    own: "own",
    floor: "node",
    samples: mebibytes,
    compared: [{ own: "own", other: "node" }, { own: "own", other: "sdk2" }]
  }))
  report.add(resultOf({
    topic,
    name: `${NAME}, memory of the process beyond that of sdk2`,
    unit: "MiB",
    own: "own",
    ...(smoke ? {} : { most: MORE_MEMORY }),
    samples: new Map([["own", ours.map((size, round) => size - theirs[round]!)]]),
    compared: []
  }))
  const addBundle = (own: "own" | "browser", name: string, others: ReadonlyArray<"sdk1" | "sdk2">) =>
    report.add(resultOf({
      topic,
      name,
      unit: "kB, minified",
      own,
      most: KILOBYTES[own],
      samples: new Map([own, ...others].map((one) => [one, [bundles[one].kilobytes]])),
      compared: others.map((other) => ({ own, other }))
    }))
  addBundle("own", `${NAME}, the bundle`, ["sdk1", "sdk2"])
  addBundle("browser", "a client for a browser, the bundle", [])
}
