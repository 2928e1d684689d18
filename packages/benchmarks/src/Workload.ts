/**
 * The work of every subject of a benchmark: calls of the same tools, with every result checked. The subjects are the files in
 * `subjects`.
 */

/** One implementation under test. `cell.ts` runs each subject in a process of its own. */
export interface Subject {
  /** Makes `calls` calls, `inFlight` of them concurrently. Fails on a wrong result. */
  readonly run: (calls: number, inFlight: number) => Promise<void>
  /** How many calls belong together: `calls` is a multiple of this number. Default: as many as are in flight. */
  readonly step?: number
  /** Processor time so far, in microseconds. Default: the processor time of this process. */
  readonly used?: () => Promise<number>
  readonly close: () => Promise<void>
}

/** One implementation whose memory is measured. */
export interface Holder {
  /** Opens so many more of what is measured, and keeps them open. */
  readonly hold: (count: number) => Promise<void>
  /** The heap of the process that is measured, after a collection of garbage. */
  readonly heapBytes: () => Promise<number>
  readonly close: () => Promise<void>
}

/**
 * The tools that a server offers: "add", the tool that the row is about, and more tools where the row is about long lists. The environment
 * of the process names the tools, so that a server has no tool that its row does not need.
 */
export const offered: ReadonlyArray<string> = [
  "add",
  ...(process.env.TOOL === undefined ? [] : [process.env.TOOL]),
  ...Array.from({ length: Number(process.env.TOOLS ?? 1) - 1 }, (_, at) => `add${at}`)
]

/** How many notifications of progress the tool "report" sends in one call. */
export const BURST = 1000

export const isRecord = (u: unknown): u is Record<string, unknown> => typeof u === "object" && u !== null

export const check = (sum: unknown, a: number, b: number): void => {
  if (sum !== a + b) throw new Error(`${a} + ${b} is not ${String(sum)}`)
}

/** Checks the result of a call: its structured content, or the JSON in its text when a server sends no structured content. */
export const checkResult = (result: unknown, a: number, b: number): void => {
  const { content, structuredContent } = isRecord(result) ? result : {}
  if (isRecord(structuredContent)) return check(structuredContent.sum, a, b)
  const first: unknown = Array.isArray(content) ? content[0] : undefined
  const value: unknown = isRecord(first) && typeof first.text === "string" ? JSON.parse(first.text) : undefined
  check(isRecord(value) ? value.sum : undefined, a, b)
}

/** Makes `calls` calls that are promises, `inFlight` of them at once. Each call gets a number of its own, from 1 on. */
export const inTurn = async (
  calls: number,
  inFlight: number,
  call: (a: number) => Promise<void>
): Promise<void> => {
  let next = 1
  await Promise.all(Array.from({ length: inFlight }, async () => {
    while (next <= calls) await call(next++)
  }))
}

/** What the official clients of both versions have. */
interface OfficialClient {
  readonly callTool: (params: { name: string; arguments: Record<string, unknown> }) => Promise<unknown>
  readonly close: () => Promise<void>
}

/** Calls the tool "add" with an official client. */
export const calling = (client: OfficialClient, close = (): Promise<void> => client.close()): Subject => ({
  run: (calls, inFlight) =>
    inTurn(
      calls,
      inFlight,
      async (a) => checkResult(await client.callTool({ name: "add", arguments: { a, b: 1 } }), a, 1)
    ),
  close
})

/** Calls the tool "report", and counts its notifications: the figure is the cost of one notification. */
export const reporting = (
  /** Makes one call, and returns its result. It must call `onProgress` for each notification. */
  report: (onProgress: () => void) => Promise<unknown>
): Pick<Subject, "run" | "step"> => ({
  step: BURST,
  run: async (notifications) => {
    for (let sent = 0; sent < notifications; sent += BURST) {
      let received = 0
      checkResult(await report(() => received++), BURST, 1)
      if (received !== BURST) throw new Error(`${received} of ${BURST} notifications have arrived`)
    }
  }
})
