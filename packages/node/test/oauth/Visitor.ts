/**
 * A user with a browser that has no screen: it follows redirects, keeps cookies, and fills in the forms for the login and the
 * consent.
 */
import { Effect } from "effect"

export interface Options {
  /** The name that the user logs in with. Default: "ada". */
  readonly name?: string
  /** Whether the user consents; otherwise the user cancels. Default: true. */
  readonly consents?: boolean
  /** Sees each response before the program that began the login does. */
  readonly onResponse?: (response: URL) => Effect.Effect<void>
}

export interface Visitor {
  /** Opens a URL, and follows it to the page of the program that began the login, which is requested, too. */
  readonly open: (url: URL) => Effect.Effect<void>
  /** Enters the code of a device at its page, and logs in; or refuses at the first page that lets the user refuse. */
  readonly enter: (page: string, userCode: string) => Effect.Effect<void>
  /** The URLs that were opened, and the responses that the browser was sent back with. */
  readonly opened: ReadonlyArray<URL>
  readonly responses: ReadonlyArray<URL>
}

/** How many pages a login may have. */
const MAX_PAGES = 20

/** A browser of a user; its cookies stay, so a second login needs no password. */
export const make = (options: Options = {}): Visitor => {
  const cookies = new Map<string, string>()
  const opened: Array<URL> = []
  const responses: Array<URL> = []

  const visit = (url: URL, form?: Readonly<Record<string, string>>) =>
    Effect.promise((signal) =>
      fetch(url, {
        signal,
        redirect: "manual",
        headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") },
        ...(form === undefined ? undefined : { method: "POST", body: new URLSearchParams(form) })
      }).then((response) => response.text().then((text) => ({ response, text })))
    ).pipe(Effect.tap(({ response }) =>
      Effect.sync(() => {
        for (const line of response.headers.getSetCookie()) {
          const [name = "", value = ""] = line.slice(0, line.indexOf(";")).split(/=(.*)/s)
          if (value === "") cookies.delete(name)
          else cookies.set(name, value)
        }
      })
    ))

  const open = (first: URL): Effect.Effect<void> =>
    Effect.gen(function*() {
      opened.push(first)
      const { searchParams } = first
      const redirectUri = searchParams.get("redirect_uri")
      let page = yield* visit(first)
      let at = first
      for (let pages = 0; pages < MAX_PAGES; pages++) {
        const { response, text } = page
        const location = response.headers.get("location")
        if (location !== null) {
          at = new URL(location, at)
          const isResponse = redirectUri !== null && at.href.startsWith(redirectUri)
          if (isResponse) {
            responses.push(at)
            if (options.onResponse !== undefined) yield* options.onResponse(at)
          }
          page = yield* visit(at)
          if (!isResponse) continue
          return
        }
        const action = /<form[^>]* action="([^"]*)"/.exec(text)?.[1]
        if (action === undefined) throw new Error(`${at.pathname} has no form: ${response.status} ${text}`)
        const prompt = /name="prompt" value="(\w+)"/.exec(text)?.[1] ?? ""
        const target = new URL(action, at)
        at = target
        page = prompt === "consent" && options.consents === false
          ? yield* visit(new URL(`${target.href}/abort`))
          : yield* visit(target, {
            prompt,
            ...(prompt === "login" ? { login: options.name ?? "ada", password: "x" } : {})
          })
      }
      throw new Error(`The login has more than ${MAX_PAGES} pages`)
    })

  /** The hidden fields of the form of a page. */
  const fieldsOf = (text: string): Record<string, string> =>
    Object.fromEntries(
      [...text.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)].map(([, name, value]) => [name, value])
    )

  const enter = (first: string, userCode: string): Effect.Effect<void> =>
    Effect.gen(function*() {
      let at = new URL(first)
      let page = yield* visit(at)
      for (let pages = 0; pages < MAX_PAGES; pages++) {
        const { response, text } = page
        const location = response.headers.get("location")
        const action = /<form[^>]* action="([^"]*)"/.exec(text)?.[1]
        if (location === null && action === undefined) return
        at = new URL(location ?? action!, at)
        if (location !== null) {
          page = yield* visit(at)
          continue
        }
        const fields = fieldsOf(text)
        const refuses = options.consents === false && fields["confirm"] !== undefined
        page = yield* visit(at, {
          user_code: userCode,
          ...fields,
          ...(refuses ? { abort: "yes" } : undefined),
          ...(fields["prompt"] === "login" ? { login: options.name ?? "ada", password: "x" } : undefined)
        })
        if (refuses) return
      }
      throw new Error(`The login has more than ${MAX_PAGES} pages`)
    })

  return { open, enter, opened, responses }
}
