/**
 * The document of the view. It talks to its host in JSON-RPC messages: it initializes, shows the results of the tool, and calls
 * the tool for later days when the user presses the button. Larger views use `App` of `@modelcontextprotocol/ext-apps`.
 */
export const page = `<!doctype html>
<html>
<head><meta charset="utf-8"><title>Forecast</title></head>
<body>
<h1 id="city">…</h1>
<ol id="days"></ol>
<button id="more" disabled>Later</button>
<script>
  const waiting = new Map()
  const shown = { city: "", celsius: [] }
  const send = (message) => parent.postMessage({ jsonrpc: "2.0", ...message }, "*")
  const request = (method, params) => new Promise((resolve, reject) => {
    const id = waiting.size + 1
    waiting.set(id, ({ error, result }) => error ? reject(new Error(error.message)) : resolve(result))
    send({ id, method, params })
  })
  const show = ({ structuredContent }) => {
    if (!structuredContent) return
    shown.city = structuredContent.city
    shown.celsius.push(...structuredContent.celsius)
    document.getElementById("city").textContent = shown.city
    document.getElementById("days").replaceChildren(...shown.celsius.map((celsius) => {
      const day = document.createElement("li")
      day.textContent = celsius + " °C"
      day.style.width = 3 + Math.max(0, celsius) + "em"
      return day
    }))
    document.getElementById("more").disabled = false
  }
  addEventListener("message", ({ data, source }) => {
    if (source !== parent || data.jsonrpc !== "2.0") return
    if (data.method === undefined) waiting.get(data.id)?.(data)
    else if (data.method === "ui/notifications/tool-result") show(data.params)
    else if (data.id !== undefined) send({ id: data.id, result: {} })
  })
  document.getElementById("more").onclick = () =>
    request("tools/call", { name: "later", arguments: { city: shown.city, from: shown.celsius.length } }).then(show)
  request("ui/initialize", {
    protocolVersion: "2026-01-26",
    appInfo: { name: "chart", version: "1.0.0" },
    appCapabilities: {}
  }).then(() => send({ method: "ui/notifications/initialized" }))
</script>
</body>
</html>
`
