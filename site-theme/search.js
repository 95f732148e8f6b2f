// The search matches any word of what is typed, so that "a" alone finds every page. These words say
// nothing of a page: they are left out of what is asked of the index, unless nothing else is typed.
const SAY_NOTHING = new Set(
  ("a an and are as at be by can do does for from has have how i in is it its me my of on or over" +
    " see so that the their they this to was what when where which who why with without know").split(" "),
)
const QUERY = 2 // the kind of message that asks

// A page that is opened from a disk may start no worker: there its script runs in a hidden frame.
class FramedWorker extends EventTarget {
  constructor(url) {
    super()
    const frame = document.createElement("iframe")
    frame.hidden = true
    document.body.append(frame)
    this.inside = frame.contentWindow
    this.inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }))
    const script = this.inside.document.createElement("script")
    this.loaded = new Promise((resolve) => script.addEventListener("load", resolve))
    script.src = url
    this.inside.document.body.append(script)
  }

  async postMessage(data) {
    await this.loaded
    this.inside.dispatchEvent(new MessageEvent("message", { data }))
  }
}
if (location.protocol === "file:") window.Worker = FramedWorker

const ask = Worker.prototype.postMessage
Worker.prototype.postMessage = function (message, ...rest) {
  if (message && message.type === QUERY && typeof message.data === "string") {
    const words = message.data.split(/\s+/)
    const kept = words.filter((word) => !SAY_NOTHING.has(word.replace(/\W+$/, "").toLowerCase()))
    message = { ...message, data: kept.join(" ") || message.data }
  }
  return ask.call(this, message, ...rest)
}
