/**
 * The transport of a client over stdio. The transport launches the server as a subprocess, and ends the server when the scope closes.
 *
 * This module combines three modules: `Subprocess` runs the program, `Pipe` exchanges messages over the standard input and output of the
 * program, and `Stderr` reads its stderr. The exit of the program decides how `incoming`, the stream of received messages, ends.
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
 * How long the transport waits at each step when it ends the server.
 *
 * @category models
 */
export interface CloseTimeouts {
  /** How long the transport waits until the sent messages are written. Default: 0.5 seconds. */
  readonly flush?: Duration.DurationInput | undefined
  /** The time between the end of the server's input and `SIGTERM`. Default: 2 seconds. */
  readonly grace?: Duration.DurationInput | undefined
  /** The time between `SIGTERM` and `SIGKILL`. Default: 2 seconds. */
  readonly terminate?: Duration.DurationInput | undefined
  /** How long the transport waits after `SIGKILL`. Then it logs a warning and no longer waits for the process. Default: 2 seconds. */
  readonly kill?: Duration.DurationInput | undefined
}

/**
 * The limits of the pipe to a server, and of each message on the pipe.
 *
 * @category models
 */
export interface Limits extends MessageText.Limits, Pick<LineFraming.Options, "maxLineBytes"> {
  /** How many characters may wait for a server that does not read its input. With more characters, the transport fails. Default: 64 Mi. */
  readonly maxBacklog?: number | undefined
}

/**
 * The options of `connector`. The command runs with the rights of this process, so do not use a command from an untrusted source.
 *
 * @category models
 */
export interface Options extends Pick<LineFraming.Options, "invalidBytes"> {
  /** The name of a program on the `PATH`, or the path of a file. The command runs without a shell. */
  readonly command: string
  /** The name of the server in logs, errors and taps. Default: the command. */
  readonly name?: string | undefined
  /** The arguments of the command. Default: none. */
  readonly args?: ReadonlyArray<string> | undefined
  /**
   * Environment variables for the server, in addition to the variables that the server inherits. `undefined` removes an inherited variable.
   * The server inherits only `HOME`, `LOGNAME`, `PATH`, `SHELL`, `TERM` and `USER`, and on Windows the variables that programs need there.
   */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
  /** The working directory of the server. Default: the working directory of this process. */
  readonly cwd?: string | undefined
  /**
   * Where the stderr of the server goes. The messages of some errors quote the last lines of the stderr. This quote is for the operator of
   * this process; it does not go to a model or to another client. Default: `forward`.
   *
   * - `forward`: this process writes the text unchanged to its own stderr. Errors quote the last lines.
   * - `inherit`: the server writes directly to the stderr of this process. Errors cannot quote the text.
   * - `ignore`: this process discards the text. Errors do not quote the text.
   * - a function: the function gets the lines one after another. At most 256 lines wait for the function; further lines are dropped. After
   *   that, the function gets a line that says how many lines were lost. Errors quote the last lines.
   */
  readonly stderr?: "forward" | "inherit" | "ignore" | ((line: string) => Effect.Effect<void>) | undefined
  /**
   * The encoding of both streams, by its label in the Encoding Standard, for example `windows-1252` or `utf-16le`. With
   * an encoding other than UTF-8 and UTF-16, characters beyond ASCII are sent as JSON escape sequences. Default: UTF-8, which the
   * specification requires.
   */
  readonly encoding?: string | undefined
  /** How long the transport waits at each step when it ends the server. */
  readonly closeTimeouts?: CloseTimeouts | undefined
  /** The limits for the messages that wait until the server reads them, and for the size of the messages that the server sends. */
  readonly limits?: Limits | undefined
}

/** How long the transport waits for the output of a program that has exited, and for the exit of a program whose pipe has broken. */
const EXIT_TIMEOUT = "1 second"

/**
 * Makes a connector that launches the server. The connector launches a new process for each connection.
 *
 * Connecting fails with reason `Open` when the program cannot be started or the encoding is unknown. The stream `incoming` ends without an
 * error when the program exits with code 0 after it has sent something, or when the program closes its output and continues to run.
 * `incoming` fails with reason `Read` when the program ends in any other way, and the message of the error has the last lines of stderr.
 * `incoming` fails with reason `Write` when the program still runs but does not accept input.
 *
 * When the scope closes, the connector writes the waiting messages and ends the input of the program. If the program does not exit, the
 * connector sends `SIGTERM` and then `SIGKILL` to the process group of the program. Closing cannot be interrupted. Closing takes at most
 * the sum of `closeTimeouts` and 1 second for stderr.
 *
 * @category constructors
 */
export const connector = (options: Options): Connector.Connector =>
  Connector.make(
    nameOf(options),
    // All resources have one scope, so that an interruption during connecting releases all of them.
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
        // The rest of the output is read and dropped, because a server that blocks on its output would not notice the end of its input.
        child.stdout.resume()
      })
    )
    // This is interruptible, so that the close can end it, even when the caller connects uninterruptibly.
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

/**
 * Ends `incoming` when the output of the program does not end. This happens when another process keeps the output open, or when the program
 * does not accept input.
 */
const endWithChild = (
  child: Subprocess.Subprocess,
  pipe: Pipe.Pipe,
  broken: Effect.Effect<TransportError>
): Effect.Effect<void> =>
  Effect.gen(function*() {
    const fault = yield* raceFirst(Effect.asSome(broken), Effect.as(child.exited, Option.none<TransportError>()))
    // A pipe breaks most often because the program exits, and the exit status says more than the error of the pipe.
    const status = yield* TimeLimit.end(child.exited, EXIT_TIMEOUT)
    if (Option.isNone(status) && Option.isSome(fault)) return pipe.end(Exit.fail(fault.value))
    const isSilent = Effect.gen(function*() {
      yield* Effect.sleep(EXIT_TIMEOUT)
      const { received } = pipe.input
      // This gives time to read the output that arrived when this process was busy.
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
    // A server may end after a conversation. A program that ends without any message is not a server.
    if (Option.isNone(status) || (status.value.code === 0 && input.received > 0)) return
    yield* TimeLimit.end(stderr.ended, EXIT_TIMEOUT)
    const { code, signal } = status.value
    const how = code === null ? `was ended by ${signal}` : `exited with code ${code}${code === 0 ? silent : ""}`
    const tail = yield* stderr.tail
    const message = `${JSON.stringify(name)} ${how}${tail === "" ? "" : `; the last lines of its stderr:\n${tail}`}`
    return yield* new TransportError({ reason: "Read", message })
  })

const silent = " and has written nothing to its standard output: is it a server, and does it run until its input ends?"
