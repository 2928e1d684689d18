/**
 * The error of this package. It occurs when Redis did not answer in time or refused a command, and when the option `url` is not an address
 * of Redis.
 *
 * The error names the command. It never contains the arguments of the command, which may be secrets.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"

/** @category errors */
export class RedisError extends Data.TaggedError("RedisError")<{
  readonly message: string
  /** Is `true` when the command has certainly changed nothing, because Redis has refused the command or did not get it. Default: false. */
  readonly isRefused?: boolean | undefined
  /** The message of the driver or of Redis, without the arguments of the command. This text may contain addresses. */
  readonly cause?: string | undefined
}> {
  /** The message and the cause, for the log of the operator. This text may contain addresses, so do not show it to users. */
  get report(): string {
    return this.cause === undefined || this.cause === "" ? this.message : `${this.message}: ${this.cause}`
  }
}
