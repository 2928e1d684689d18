/**
 * The error of everything that talks to Redis: Redis did not answer in time, or refused a command, or the option `url` is not an address.
 *
 * The error names the command, and never its arguments, which may be secrets.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"

/** @category errors */
export class RedisError extends Data.TaggedError("RedisError")<{
  readonly message: string
  /** Whether it is certain that nothing has changed: Redis has refused the command, or never got it. Default: false. */
  readonly isRefused?: boolean | undefined
  /** What the driver reported, without the arguments of the command. */
  readonly cause?: string | undefined
}> {
  /** What happened and why, for the log of the operator: it may name addresses. */
  get report(): string {
    return this.cause === undefined || this.cause === "" ? this.message : `${this.message}: ${this.cause}`
  }
}
