/**
 * Redirects standard output to stderr. This module replaces the functions of Node that write to standard output. It also replaces the
 * functions that start child processes, so that no child process inherits a claimed stream of this process. The functions are replaced
 * because Node cannot duplicate a file descriptor. `StandardStreams` decides when a stream is redirected. `subprocess/Stderr` uses
 * `writeQuietly`.
 */
import { Buffer } from "node:buffer"
import ChildProcess from "node:child_process"
import { Console } from "node:console"
import Fs from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import type { Writable } from "node:stream"

type Any = (...args: Array<any>) => any
type Restore = () => void

export type StandardStream = "input" | "output"

const STDIN = 0
const STDOUT = 1
const STDERR = 2

/**
 * Replaces a method until the returned function is called. After that, code that has stored or wrapped the replacement calls the original
 * method.
 */
export const replaceMethod = (target: object, name: string, make: (original: Any) => Any): Restore => {
  const methods = target as Record<string, Any>
  const own = Object.getOwnPropertyDescriptor(target, name)
  const original = methods[name]!
  const redirected = make(original)
  let active = true
  const replacement = function(this: unknown, ...args: Array<unknown>): unknown {
    return (active ? redirected : original).apply(this, args)
  }
  // Some functions of Node have properties, such as `util.promisify.custom`.
  Object.setPrototypeOf(replacement, original)
  Object.defineProperty(target, name, { value: replacement, configurable: true, enumerable: true, writable: true })
  return () => {
    active = false
    if (methods[name] !== replacement) return
    if (own === undefined) delete methods[name]
    else Object.defineProperty(target, name, own)
  }
}

const ignore = (): void => {}

/** Writes to a standard stream of this process. An error does not end the process. */
export const writeQuietly = (
  stream: Writable,
  chunk: string | Uint8Array,
  callback: (error?: Error | null) => void = ignore
): boolean =>
  stream.write(chunk, (error) => {
    // The stream emits its first error after this callback. Without a listener, the event would end the process.
    if (error && !stream.destroyed && stream.listenerCount("error") === 0) stream.once("error", ignore)
    callback(error)
  })

const stdoutToStderr = (): Restore =>
  replaceMethod(process.stdout, "write", () => (chunk, encoding, callback) => {
    const done = typeof encoding === "function" ? encoding : callback
    const bytes = typeof chunk === "string" && typeof encoding === "string"
      ? Buffer.from(chunk, encoding as BufferEncoding)
      : chunk
    const writable = writeQuietly(process.stderr, bytes, (error) => {
      // Streams that are piped into stdout wait for this event.
      if (!writable) process.stdout.emit("drain")
      done?.(error)
    })
    return writable
  })

/**
 * Redirects the console of Bun and Deno, which does not use `process.stdout`. All functions use one new console, because a console counts
 * its open groups.
 */
const consoleToStderr = (): ReadonlyArray<Restore> => {
  if (!("bun" in process.versions || "deno" in process.versions)) return []
  const toStderr = new Console(process.stderr, process.stderr) as unknown as Record<string, Any>
  return Object.keys(toStderr)
    .filter((name) => typeof toStderr[name] === "function" && name in console)
    .map((name) => replaceMethod(console, name, () => toStderr[name]!.bind(toStderr)))
}

// These functions of `node:fs` also take a descriptor, and do not call `process.stdout.write`.
const descriptorWriters = ["write", "writeSync", "writev", "writevSync"].concat(
  ["writeFile", "writeFileSync", "appendFile", "appendFileSync"]
)

const descriptorToStderr = (name: string): Restore =>
  replaceMethod(Fs, name, (original) => (fd, ...rest) => original(fd === STDOUT ? STDERR : fd, ...rest))

const standsFor = (entry: unknown, index: number): unknown => {
  if (entry === "inherit") return index
  if (entry === process.stdin) return STDIN
  return entry === process.stdout ? STDOUT : entry
}

/**
 * Returns the option `stdio` for a child process. Instead of a claimed standard input, the child gets no input. Instead of a claimed
 * standard output, the child gets stderr.
 */
export const stdioOfChild = (stdio: unknown, which: StandardStream): unknown => {
  const entries = stdio === "inherit" ? ["inherit", "inherit", "inherit"] : stdio
  if (!Array.isArray(entries)) return stdio
  return entries.map((entry, index) => {
    const fd = standsFor(entry, index)
    if (which === "input") return fd === STDIN ? "ignore" : entry
    return fd === STDOUT ? STDERR : entry
  })
}

const withStdio = (options: unknown, which: StandardStream): unknown =>
  typeof options === "object" && options !== null && "stdio" in options
    ? { ...options, stdio: stdioOfChild(options.stdio, which) }
    : options

/**
 * Replaces the functions that start a child process. All asynchronous functions call the same method, so only this method is replaced. Each
 * synchronous function is replaced separately.
 */
const children = (which: StandardStream): ReadonlyArray<Restore> => [
  replaceMethod(ChildProcess.ChildProcess.prototype, "spawn", (original) =>
    function(this: unknown, options) {
      return original.call(this, withStdio(options, which))
    }),
  ...["spawnSync", "execFileSync", "execSync"].map((name) =>
    replaceMethod(ChildProcess, name, (original) => (...args) => original(...args.map((arg) => withStdio(arg, which))))
  )
]

/** Redirects one stream until the returned function is called. */
export const redirect = (which: StandardStream): Restore => {
  const restores = [
    ...children(which),
    ...(which === "output"
      ? [stdoutToStderr(), ...consoleToStderr(), ...descriptorWriters.map(descriptorToStderr)]
      : [])
  ]
  // This updates named imports, such as `import { writeSync } from "node:fs"`.
  syncBuiltinESMExports()
  return () => {
    for (const restore of restores.reverse()) restore()
    syncBuiltinESMExports()
  }
}
