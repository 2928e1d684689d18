/**
 * The rows about the compiler: what `tsc` needs for a file with 50 tools, each with parameters, an output and a typed handler. For each
 * file there is another file that imports the same modules and defines nothing: the difference between the two is what the tools cost.
 */
import { spawn } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { type Options, type Report, resultOf } from "./Report.js"

const NAME = "type-check a file with 50 tools"

const TOOLS = 50

/** How many tools the file has in a smoke run. */
const FEW_TOOLS = 5

const ROUNDS = 3

/** How long the compiler may take for one file, in milliseconds. */
const LIMIT = 120_000

const folder = fileURLToPath(new URL("../build/types", import.meta.url))

const compiler = createRequire(import.meta.url).resolve("typescript/lib/tsc.js")

/** The source text for a library: its imports, the text for each tool, and the end of the file. */
interface Library {
  readonly imports: string
  readonly each: (at: number) => string
  readonly end: (count: number) => string
}

const all = (count: number, one: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => one(at)).join("")

const libraries: Readonly<Record<string, Library>> = {
  own: {
    imports: `import * as Tool from "@effect-mcp/core/Tool"
import * as McpServer from "@effect-mcp/core/McpServer"
import { Effect, Layer, Schema } from "effect"
`,
    each: (at) => `
const Tool${at} = Tool.make("tool${at}", {
  description: "Adds ${at}",
  parameters: { a: Schema.Number, note: Schema.optional(Schema.String), kind: Schema.Literal("x", "y") },
  success: Schema.Struct({ sum: Schema.Number, notes: Schema.Array(Schema.String) })
})
const Tool${at}Live = McpServer.tool(Tool${at}, ({ a, kind, note }) =>
  Effect.succeed({ sum: a + ${at}, notes: [note ?? kind] }))
`,
    end: (count) => `
export const Server = McpServer.layer({ name: "types", version: "1.0.0" }, Layer.mergeAll(
${all(count, (at) => `  Tool${at}Live,\n`)}))
`
  },
  sdk1: {
    imports: `import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import { z } from "zod"

export const server = new McpServer({ name: "types", version: "1.0.0" })
`,
    each: (at) => `
server.registerTool("tool${at}", {
  description: "Adds ${at}",
  inputSchema: { a: z.number(), note: z.string().optional(), kind: z.enum(["x", "y"]) },
  outputSchema: { sum: z.number(), notes: z.array(z.string()) }
}, ({ a, kind, note }) => {
  const structuredContent = { sum: a + ${at}, notes: [note ?? kind] }
  return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent }
})
`,
    end: () => ""
  },
  sdk2: {
    imports: `import { McpServer } from "@modelcontextprotocol/server"
import { z } from "zod"

export const server = new McpServer({ name: "types", version: "1.0.0" })
`,
    each: (at) => `
server.registerTool("tool${at}", {
  description: "Adds ${at}",
  inputSchema: z.object({ a: z.number(), note: z.string().optional(), kind: z.enum(["x", "y"]) }),
  outputSchema: z.object({ sum: z.number(), notes: z.array(z.string()) })
}, ({ a, kind, note }) => {
  const structuredContent = { sum: a + ${at}, notes: [note ?? kind] }
  return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent }
})
`,
    end: () => ""
  }
}

/** Writes the files, and returns their names without the extension. */
const write = (tools: number): ReadonlyArray<string> => {
  mkdirSync(folder, { recursive: true })
  return Object.entries(libraries).flatMap(([name, { each, end, imports }]) => {
    const file = (suffix: string, text: string): string => {
      writeFileSync(join(folder, `${name}${suffix}.ts`), text)
      return `${name}${suffix}`
    }
    return [
      file("", `${imports}${all(tools, each)}${end(tools)}`),
      file(" imports", `${imports}\nexport {}\n`)
    ]
  })
}

const figures = {
  "Instantiations": "instantiations",
  "Check time": "s of checking",
  "Memory used": "MB of the compiler"
}

type FigureName = keyof typeof figures

const names: ReadonlyArray<FigureName> = ["Instantiations", "Check time", "Memory used"]

const check = (file: string): Promise<Readonly<Record<FigureName, number>>> =>
  new Promise((resolve, reject) => {
    const options = ["--noEmit", "--strict", "--exactOptionalPropertyTypes", "--skipLibCheck", "--extendedDiagnostics"]
    const target = ["--target", "es2022", "--module", "nodenext", "--types", "node"]
    const child = spawn(process.execPath, [compiler, ...options, ...target, join(folder, `${file}.ts`)], {
      stdio: ["ignore", "pipe", "inherit"],
      timeout: LIMIT,
      killSignal: "SIGKILL"
    })
    let output = ""
    child.stdout.setEncoding("utf8").on("data", (text: string) => output += text)
    child.on("error", reject)
    child.on("close", (code) => {
      if (code !== 0) return reject(new Error(`The compiler refuses "${file}": ${output}`))
      const of = (name: FigureName): number => {
        const [, figure, unit] = new RegExp(`^${name}: +([0-9.]+)([sK]?)$`, "m").exec(output) ?? []
        return Number(figure) / (unit === "K" ? 1000 : 1)
      }
      resolve({
        "Instantiations": of("Instantiations"),
        "Check time": of("Check time"),
        "Memory used": of("Memory used")
      })
    })
  })

/** Runs the rows. */
export const run = async (report: Report, { smoke, text }: Options): Promise<void> => {
  if (!NAME.includes(text)) return
  const files = write(smoke ? FEW_TOOLS : TOOLS)
  const found = new Map<string, Array<Readonly<Record<FigureName, number>>>>(files.map((file) => [file, []]))
  for (let round = 0; round < (smoke ? 1 : ROUNDS); round++) {
    const next = found[Symbol.iterator]()
    const inTurn = async () => {
      for (const [file, values] of next) values.push(await check(file))
    }
    // A smoke run has no limits for times.
    await Promise.all(Array.from({ length: smoke ? 2 : 1 }, inTurn))
  }
  for (const name of names) {
    report.add(resultOf({
      topic: "types",
      name: `${NAME}: ${name.toLowerCase()}`,
      unit: figures[name],
      own: "own",
      floor: "own imports",
      samples: new Map([...found].map(([file, values]) => [file, values.map((one) => one[name])])),
      // A file of imports has no instantiations and nearly no check time, so that a ratio would say nothing.
      compared: [...(name === "Memory used" ? ["own imports"] : []), "sdk1", "sdk2"]
        .map((other) => ({ own: "own", other }))
    }))
  }
}
