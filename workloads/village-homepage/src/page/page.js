// Keeps the page fresh: asks for each block every 15 s while the tab is seen, and replaces what has changed.
// Never under the focus, and never under a form that is open: nobody must lose their place, or what they have written.
const EVERY_MS = 15_000

const isInUse = (place) => place.contains(document.activeElement) || place.querySelector('details[open]') !== null

async function refresh(place) {
  if (isInUse(place)) return
  const answer = await fetch(place.dataset.block, { headers: { 'if-none-match': place.dataset.etag } })
  if (!answer.ok) return
  const text = await answer.text()
  if (isInUse(place)) return
  const etag = answer.headers.get('etag') ?? ''
  if (etag === place.dataset.etag) return
  place.dataset.etag = etag
  place.innerHTML = text
}

async function refreshAll() {
  if (document.visibilityState !== 'visible') return
  // The server may be starting anew: the next round asks again.
  await Promise.allSettled([...document.querySelectorAll('[data-block]')].map(refresh))
}

setInterval(refreshAll, EVERY_MS)
document.addEventListener('visibilitychange', refreshAll)
