/**
 * Opens a URL in the user's browser with the program that the system has for this, for `LoopbackBrowser`. No shell reads the URL, and the
 * URL is one argument, so that no part of it is a command or an option.
 */
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { AuthorizationError } from "../../AuthorizationError.js"

/** The program and the arguments before the URL. */
export const commandOf = (platform: NodeJS.Platform): readonly [command: string, ...args: Array<string>] =>
  platform === "darwin"
    ? ["open"]
    : platform === "win32"
    ? ["rundll32.exe", "url.dll,FileProtocolHandler"]
    : ["xdg-open"]

/**
 * Waits until the program has ended; an interruption leaves the program and the browser running. Only http and https are
 * opened.
 */
export const open = (
  url: URL,
  [command, ...args] = commandOf(process.platform)
): Effect.Effect<void, AuthorizationError> =>
  url.protocol !== "https:" && url.protocol !== "http:"
    ? Effect.fail(failed("it is neither http nor https"))
    : Effect.async<void, AuthorizationError>((resume) => {
      const child = spawn(command, [...args, url.href], {
        shell: false,
        stdio: "ignore",
        detached: true,
        windowsHide: true
      })
      child.once("error", () => resume(Effect.fail(failed(`there is no program "${command}"`))))
      child.once("exit", (code) =>
        resume(code === 0 || code === null ? Effect.void : Effect.fail(failed(`"${command}" ended with ${code}`))))
      child.unref()
      // Node throws where the system refuses the argument, as Linux refuses an argument of 128 KiB.
    }).pipe(Effect.catchAllDefect(() =>
      Effect.fail(failed(`"${command}" does not take an address of ${url.href.length} characters`))
    ))

const failed = (why: string) =>
  new AuthorizationError({
    reason: "Browser",
    message: `The browser could not be opened: ${why}. The option \`open\` can show the user the address instead`
  })
