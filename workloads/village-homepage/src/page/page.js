// Keeps the page fresh: asks for each block every 15 s while the tab is seen, and replaces what has changed.
// Never under the focus: a keyboard user must not lose their place.
const EVERY_MS = 15_000

async function refresh(place) {
  if (place.contains(document.activeElement)) return
  const answer = await fetch(place.dataset.block, { headers: { 'if-none-match': place.dataset.etag } })
  if (!answer.ok) return
  const text = await answer.text()
  if (place.contains(document.activeElement)) return
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
