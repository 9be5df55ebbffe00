// Reads the board again when jobs move, at least every two seconds while the page is seen. A form is sent without leaving the page.
const { base, admin } = document.body.dataset
const board = document.getElementById('board')
const state = document.getElementById('state')
const LEAST_MS = 1000
let isReading = false
let readAt = 0

async function read() {
  if (isReading || document.hidden || performance.now() - readAt < LEAST_MS) return
  isReading = true
  readAt = performance.now()
  try {
    const response = await fetch(`${base}/board`)
    if (!response.ok) throw new Error(`the server answered ${response.status}`)
    const html = await response.text()
    // A link that has the focus keeps it.
    if (!board.contains(document.activeElement)) board.innerHTML = html
    state.textContent = `live, as of ${new Date().toLocaleTimeString()}`
  } catch (error) {
    state.textContent = `not live: ${error.message}. It goes on by itself.`
  } finally {
    isReading = false
  }
}

for (const form of document.querySelectorAll('.tries form')) {
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    const button = form.querySelector('button')
    button.disabled = true
    const note = form.nextElementSibling
    try {
      const response = await fetch(form.action, { method: 'POST' })
      note.textContent = await response.text()
    } catch (error) {
      note.textContent = `That failed: ${error.message}.`
    }
    button.disabled = false
    readAt = 0
    read()
  })
}

const stream = new EventSource(`${admin}/api/stream?topics=jobs`)
stream.addEventListener('jobs', read)
setInterval(read, 2000)
document.addEventListener('visibilitychange', read)
