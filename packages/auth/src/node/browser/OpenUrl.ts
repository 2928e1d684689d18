/**
 * Opens a URL in the user's browser with the opener program of the platform (such as `xdg-open`), for `LoopbackBrowser`. The opener program
 * runs without a shell and gets the URL as a single argument, so no part of the URL can be a command or an option.
 */
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { AuthorizationError } from "../../AuthorizationError.js"

/** Returns the opener program of a platform, and the arguments that come before the URL. */
export const commandOf = (platform: NodeJS.Platform): readonly [command: string, ...args: Array<string>] =>
  platform === "darwin"
    ? ["open"]
    : platform === "win32"
    ? ["rundll32.exe", "url.dll,FileProtocolHandler"]
    : ["xdg-open"]

/**
 * Opens an http or https URL with the opener program, and waits until the opener program has ended. The browser may stay open. Fails for a
 * URL with another scheme. An interruption ends the wait, but not the opener program or the browser.
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
      // Node throws when the system refuses the argument; Linux refuses an argument of 128 KiB.
    }).pipe(Effect.catchAllDefect(() =>
      Effect.fail(failed(`"${command}" does not take an address of ${url.href.length} characters`))
    ))

const failed = (why: string) =>
  new AuthorizationError({
    reason: "Browser",
    message: `The browser could not be opened: ${why}. Use the option \`open\` to show the address to the user instead`
  })
