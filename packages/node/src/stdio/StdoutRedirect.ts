/**
 * Sends what is meant for this process's standard input and output elsewhere: calls of Node's own functions that would
 * reach descriptor 1 reach descriptor 2, and children that would inherit either get neither.
 *
 * Node cannot move a descriptor, so this replaces functions, for as long as it is asked to. `StandardStreams` asks;
 * this room does not know why.
 *
 * @since 0.1.0
 */
import { Buffer } from "node:buffer"
import ChildProcess from "node:child_process"
import Fs from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import type { Writable } from "node:stream"

type Any = (...args: Array<any>) => any
type Restore = () => void

/**
 * The one to keep others away from.
 *
 * @since 0.1.0
 * @category models
 */
export type StandardStream = "input" | "output"

const STDIN = 0
const STDOUT = 1
const STDERR = 2

/**
 * Puts a function around a method until the result is called. Whoever has kept or wrapped the method meanwhile has the
 * original in it from then on.
 *
 * @since 0.1.0
 * @category constructors
 */
export const around = (target: object, name: string, make: (original: Any) => Any): Restore => {
  const methods = target as Record<string, Any>
  const own = Object.getOwnPropertyDescriptor(target, name)
  const original = methods[name]!
  const detoured = make(original)
  let active = true
  const replacement = function(this: unknown, ...args: Array<unknown>): unknown {
    return (active ? detoured : original).apply(this, args)
  }
  // Functions of Node carry properties, such as how to make a promise of them.
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

/**
 * Writes to a stream of our own that may be broken without anybody minding: a logger whose reader has gone ends no
 * process.
 *
 * @since 0.1.0
 * @category writing
 */
export const writeQuietly = (
  stream: Writable,
  chunk: string | Uint8Array,
  callback: (error?: Error | null) => void = ignore
): boolean =>
  stream.write(chunk, (error) => {
    // The stream emits its first error after this; without a listener it would end the process.
    if (error && !stream.destroyed && stream.listenerCount("error") === 0) stream.once("error", ignore)
    callback(error)
  })

const stdoutToStderr = (): Restore =>
  around(process.stdout, "write", () => (chunk, encoding, callback) => {
    const done = typeof encoding === "function" ? encoding : callback
    const bytes = typeof chunk === "string" && typeof encoding === "string"
      ? Buffer.from(chunk, encoding as BufferEncoding)
      : chunk
    const writable = writeQuietly(process.stderr, bytes, (error) => {
      // Who pipes into stdout waits for stdout to say so.
      if (!writable) process.stdout.emit("drain")
      done?.(error)
    })
    return writable
  })

const descriptorWriters = ["write", "writeSync", "writev", "writevSync"]

const descriptorToStderr = (name: string): Restore =>
  around(Fs, name, (original) => (fd, ...rest) => original(fd === STDOUT ? STDERR : fd, ...rest))

const standsFor = (entry: unknown, index: number): unknown => {
  if (entry === "inherit") return index
  if (entry === process.stdin) return STDIN
  return entry === process.stdout ? STDOUT : entry
}

/**
 * What a child gets in place of the standard streams it was to inherit: no input, and stderr for output.
 *
 * @since 0.1.0
 * @category conversions
 */
export const inherited = (stdio: unknown, which: StandardStream): unknown => {
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
    ? { ...options, stdio: inherited(options.stdio, which) }
    : options

/** Every asynchronous way to start a child ends in one method; the synchronous ones have nothing in common. */
const children = (which: StandardStream): ReadonlyArray<Restore> => [
  around(ChildProcess.ChildProcess.prototype, "spawn", (original) =>
    function(this: unknown, options) {
      return original.call(this, withStdio(options, which))
    }),
  ...["spawnSync", "execFileSync", "execSync"].map((name) =>
    around(ChildProcess, name, (original) => (...args) => original(...args.map((arg) => withStdio(arg, which))))
  )
]

/**
 * Installs the detours around one stream; the result takes them away again.
 *
 * @since 0.1.0
 * @category constructors
 */
export const install = (which: StandardStream): Restore => {
  const restores = [
    ...children(which),
    ...(which === "output" ? [stdoutToStderr(), ...descriptorWriters.map(descriptorToStderr)] : [])
  ]
  // `import { writeSync } from "node:fs"` sees the change only now.
  syncBuiltinESMExports()
  return () => {
    for (const restore of restores.reverse()) restore()
    syncBuiltinESMExports()
  }
}
