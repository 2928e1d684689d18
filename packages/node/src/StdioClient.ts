/**
 * A client's transport over stdio: launches the server as a subprocess, and ends it when the scope closes.
 *
 * This module combines three modules that do not know each other: `Subprocess` (the program), `Pipe` (messages over its standard input and
 * output) and `Stderr` (what the program logs). How the program ended decides how `incoming` ends.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio
 * @since 0.1.0
 */
import * as Connector from "@effect-mcp/core/Connector"
import type * as LineFraming from "@effect-mcp/core/LineFraming"
import { TransportError } from "@effect-mcp/core/LocalError"
import type * as MessageText from "@effect-mcp/core/MessageText"
import type { Transport } from "@effect-mcp/core/Transport"
import * as EffectInternals from "@effect-mcp/core/unstable/kit/EffectInternals"
import { raceFirst } from "@effect-mcp/core/unstable/kit/Race"
import * as TimeLimit from "@effect-mcp/core/unstable/kit/TimeLimit"
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Pipe from "./stdio/Pipe.js"
import * as Environment from "./subprocess/Environment.js"
import * as Stderr from "./subprocess/Stderr.js"
import * as Subprocess from "./subprocess/Subprocess.js"

/**
 * How long closing waits at each step of ending the server.
 *
 * @category models
 */
export interface CloseTimeouts {
  /** For the messages that were sent to be written. Default: 0.5 seconds. */
  readonly flush?: Duration.DurationInput | undefined
  /** From the end of its input until `SIGTERM`. Default: 2 seconds. */
  readonly grace?: Duration.DurationInput | undefined
  /** From `SIGTERM` until `SIGKILL`. Default: 2 seconds. */
  readonly terminate?: Duration.DurationInput | undefined
  /** From `SIGKILL` until closing logs a warning and leaves the process. Default: 2 seconds. */
  readonly kill?: Duration.DurationInput | undefined
}

/**
 * The limits of the pipe to a server, and of each message on it.
 *
 * @category models
 */
export interface Limits extends MessageText.Limits, Pick<LineFraming.Options, "maxLineBytes"> {
  /** How many characters may wait for a server that does not read, before the transport fails. Default: 64 Mi. */
  readonly maxBacklog?: number | undefined
}

/**
 * The command runs with the rights of this process: do not take it from an untrusted source.
 *
 * @category models
 */
export interface Options extends Pick<LineFraming.Options, "invalidBytes"> {
  /** The name of a program on the `PATH`, or the path of a file. It is not passed to a shell. */
  readonly command: string
  /** The name of the server in logs, errors and taps. Default: the command. */
  readonly name?: string | undefined
  /** Its arguments. Default: none. */
  readonly args?: ReadonlyArray<string> | undefined
  /**
   * Variables for the server, in addition to the variables that it inherits; `undefined` removes an inherited variable. The server inherits
   * only `HOME`, `LOGNAME`, `PATH`, `SHELL`, `TERM` and `USER`, and on Windows the variables that programs need there.
   */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
  /** The working directory of the server. Default: the working directory of this process. */
  readonly cwd?: string | undefined
  /**
   * Where the stderr of the server goes. An error that quotes it is for the operator: no model and no client gets the quote.
   * Default: `forward`.
   *
   * - `forward`: to the stderr of this process, byte by byte. Errors quote its last lines.
   * - `inherit`: the server writes to the stderr of this process itself. Errors cannot quote it.
   * - `ignore`: it is discarded, also by errors.
   * - a function: runs for each line, one after another. While 256 lines wait for it, further lines are dropped; it gets a
   *   line that says how many.
   */
  readonly stderr?: "forward" | "inherit" | "ignore" | ((line: string) => Effect.Effect<void>) | undefined
  /**
   * The encoding of both streams, by its label in the Encoding Standard, for example `windows-1252` or `utf-16le`. Text
   * beyond ASCII is sent as escape sequences of JSON. The specification requires the default: UTF-8.
   */
  readonly encoding?: string | undefined
  /** How long closing waits at each step of ending the server. */
  readonly closeTimeouts?: CloseTimeouts | undefined
  /** How much waits for the server, and how much the client takes of the server. */
  readonly limits?: Limits | undefined
}

/** How long to wait for the output of a program that has exited, and for the exit of a program whose pipe has broken. */
const EXIT_TIMEOUT = "1 second"

/**
 * Connects to a server by launching it, once for each connection.
 *
 * Connecting fails with reason `Open` when the program cannot be started or the encoding is unknown. `incoming` ends when
 * the program has sent something and exits with code 0, or closes its output. It fails with reason `Read`, and the last
 * lines of stderr, when the program ends in any other way, and with reason `Write` when the program still runs but cannot
 * be written to.
 *
 * Closing the scope writes the messages that wait, ends the input of the program, and sends `SIGTERM` and then `SIGKILL` to
 * its process group if it does not exit. It cannot be interrupted, and takes at most the sum of `closeTimeouts` and one
 * second for stderr.
 *
 * @category constructors
 */
export const connector = (options: Options): Connector.Connector =>
  Connector.make(
    nameOf(options),
    // One scope for all resources: an interruption while connecting releases all of them.
    Effect.flatMap(
      Effect.acquireRelease(Scope.make(), (scope, exit) => Scope.close(scope, exit)),
      (scope) => Scope.extend(connect(options), scope)
    ),
    { origin: JSON.stringify([options.command, options.args, options.cwd]) }
  )

const nameOf = ({ command, name = command }: Options): string => name

const connect = (options: Options): Effect.Effect<Transport, TransportError, Scope.Scope> =>
  Effect.gen(function*() {
    const stderr = yield* Stderr.make(options.stderr ?? "forward")
    const child = yield* Subprocess.make({
      command: options.command,
      args: options.args ?? [],
      env: Environment.merge(Environment.defaultEnvironment(), options.env ?? {}),
      cwd: options.cwd,
      stderr: options.stderr === "inherit" ? "inherit" : "pipe"
    }, options.closeTimeouts)
    if (child.stderr !== undefined) stderr.attach(child.stderr)
    const broken = yield* Deferred.make<TransportError>()
    const pipe = yield* Pipe.make({
      ...options,
      ...options.limits,
      input: child.stdout,
      output: child.stdin,
      flushTimeout: options.closeTimeouts?.flush ?? "500 millis",
      onBroken: (error) => {
        EffectInternals.done(broken, Effect.succeed(error))
        return undefined
      }
    })
    const isClosing = yield* Ref.make(false)
    yield* Effect.addFinalizer(() =>
      Effect.map(Ref.set(isClosing, true), () => {
        pipe.end(Exit.void)
        // Read and drop the rest: a server that blocks on its output would not see the end of its input.
        child.stdout.resume()
      })
    )
    // Interruptible also where the caller connects uninterruptibly, so that closing can end it.
    yield* Effect.forkScoped(Effect.interruptible(endWithChild(child, pipe, Deferred.await(broken))))
    const checkExit = Effect.unlessEffect(
      failUnlessSuccess(nameOf(options), child, stderr, pipe.input),
      Ref.get(isClosing)
    )
    return {
      incoming: Stream.concat(pipe.incoming, Stream.execute(checkExit)),
      run: (receive) => Effect.asVoid(Effect.zipRight(pipe.run(receive), checkExit)),
      send: pipe.send,
      unsafeSend: pipe.unsafeSend,
      canSend: pipe.canSend
    }
  })

/** Ends `incoming` when the output has no end: another process holds it open, or the program cannot be written to. */
const endWithChild = (
  child: Subprocess.Subprocess,
  pipe: Pipe.Pipe,
  broken: Effect.Effect<TransportError>
): Effect.Effect<void> =>
  Effect.gen(function*() {
    const fault = yield* raceFirst(Effect.asSome(broken), Effect.as(child.exited, Option.none<TransportError>()))
    // A pipe breaks most often because the program exits, and its status tells more than the error of the pipe.
    const status = yield* TimeLimit.end(child.exited, EXIT_TIMEOUT)
    if (Option.isNone(status) && Option.isSome(fault)) return pipe.end(Exit.fail(fault.value))
    const isSilent = Effect.gen(function*() {
      yield* Effect.sleep(EXIT_TIMEOUT)
      const { received } = pipe.input
      // Time to read what arrived while this process was busy.
      yield* Effect.sleep("10 millis")
      return pipe.input.isOver || (received === pipe.input.received && pipe.input.isFlowing)
    })
    yield* Effect.repeat(isSilent, { until: (is) => is })
    pipe.end(Exit.void)
  })

const failUnlessSuccess = (
  name: string,
  child: Subprocess.Subprocess,
  stderr: Stderr.Stderr,
  input: Pipe.Pipe["input"]
): Effect.Effect<void, TransportError> =>
  Effect.gen(function*() {
    const status = yield* TimeLimit.end(child.exited, EXIT_TIMEOUT)
    // A server may end after a conversation; a program that ends without a message is not a server.
    if (Option.isNone(status) || (status.value.code === 0 && input.received > 0)) return
    yield* TimeLimit.end(stderr.ended, EXIT_TIMEOUT)
    const { code, signal } = status.value
    const how = code === null ? `was ended by ${signal}` : `exited with code ${code}${code === 0 ? silent : ""}`
    const tail = yield* stderr.tail
    const message = `${JSON.stringify(name)} ${how}${tail === "" ? "" : `; the last lines of its stderr:\n${tail}`}`
    return yield* new TransportError({ reason: "Read", message })
  })

const silent = " and has written nothing to its standard output: is it a server, and does it run until its input ends?"
