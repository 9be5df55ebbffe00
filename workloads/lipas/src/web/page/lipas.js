// Keeps the page true while it is seen: asks every 2 s for what has changed. Without it the page shows one moment.
const EVERY_MS = 2_000
const find = (id) => document.getElementById(id)
const etags = new Map()
const page = new URL(location.href)
const canSeeWork = 'work' in document.body.dataset
const [place, results, trace, board] = ['place', 'results', 'trace', 'board'].map(find)
let revision = Number(document.body.dataset.revision)

/** The text of a piece; undefined: it is as it was, or the server is starting anew. */
async function piece(path, accept = 'text/html') {
  const headers = { accept, ...(etags.has(path) && { 'if-none-match': etags.get(path) }) }
  const answer = await fetch(`lipas/api/${path}`, { headers })
  // Only what is made for this page gets into it.
  if (!answer.ok || !answer.headers.get('content-type')?.startsWith(accept)) return undefined
  etags.set(path, answer.headers.get('etag'))
  return answer.text()
}

/** A keyboard user must not lose their place: what had the focus has it again. */
function put(target, html) {
  if (html === undefined || target.innerHTML === html) return
  const { key } = document.activeElement?.dataset ?? {}
  target.innerHTML = html
  if (key !== undefined) target.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus()
}

const say = (text) => {
  find('said').textContent = text
}

function remember(changes) {
  for (const [name, value] of Object.entries(changes))
    if (value === undefined) page.searchParams.delete(name)
    else page.searchParams.set(name, value)
  history.replaceState(null, '', page)
}

function markChosen() {
  const site = page.searchParams.get('site')
  for (const each of document.querySelectorAll('#map .chosen')) each.classList.remove('chosen')
  if (site !== null) document.querySelector(`#map [data-site="${CSS.escape(site)}"]`)?.classList.add('chosen')
}

async function choose(kind, id, { focus = true } = {}) {
  etags.delete(`${kind}s/${id}`)
  const html = await piece(`${kind}s/${encodeURIComponent(id)}`)
  if (html === undefined) return say('It could not be read. Try again.')
  place.innerHTML = html
  remember({ site: undefined, square: undefined, [kind]: id })
  markChosen()
  if (focus) place.querySelector('h2')?.focus()
}

async function refreshMap() {
  const text = await piece(`map?since=${revision}`, 'application/json')
  if (text === undefined) return
  const news = JSON.parse(text)
  const squares = document.querySelectorAll('#squares rect')
  ;[...news.levels].forEach((level, i) => {
    squares[i]?.setAttribute('class', level === '-' ? 'none' : `d${level}`)
  })
  put(find('summary'), news.summary)
  for (const { 'lipas-id': id, svg } of news.places) {
    const drawn = new DOMParser().parseFromString(
      `<svg xmlns="http://www.w3.org/2000/svg">${svg}</svg>`,
      'image/svg+xml',
    ).documentElement.firstElementChild
    document.querySelector(`#map [data-site="${id}"]`)?.replaceWith(document.adoptNode(drawn))
  }
  revision = news.revision
  markChosen()
}

async function refreshTrace() {
  const target = trace.querySelector('[data-trace]')
  const { trace: asked, also = '' } = target.dataset
  if (asked === '' || target.dataset.over === asked) return
  const html = await piece(`trace/${encodeURIComponent(asked)}${also && `?also=${also}`}`)
  if (html === undefined || target.dataset.trace !== asked) return
  trace.hidden = false
  const doneBefore = target.querySelector('[data-done]')?.dataset.done
  put(target, html)
  const sum = target.querySelector('[data-over]')
  if (sum.dataset.done !== doneBefore) await refreshPlace()
  if (sum.dataset.over !== 'yes') return
  target.dataset.over = asked
  say(`Your save: ${sum.textContent}`)
}

/** Heights and offers may be new now. A form that is being filled in stays. */
async function refreshPlace() {
  const form = place.querySelector('form')
  if (form !== null && isAsItCame(form)) put(place, await piece(`sites/${form.dataset.save}`))
}

const isAsItCame = (form) =>
  [...form.elements].every(({ value, defaultValue, selectedOptions }) =>
    selectedOptions === undefined ? defaultValue === undefined || value === defaultValue : isSame(selectedOptions),
  )
const isSame = ([option]) => option.defaultSelected

async function refreshBoard() {
  if (canSeeWork) put(board, await piece('board'))
}

async function refresh() {
  if (document.visibilityState !== 'visible') return
  await Promise.allSettled([refreshMap(), refreshTrace(), refreshBoard()])
}

/** Throws what the server says of it. */
async function send(path, body) {
  const answer = await fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const said = await answer.json().catch(() => ({}))
  if (!answer.ok) throw new Error(said.detail ?? `The server answered ${answer.status}.`)
  return said
}

async function save(form) {
  const [button, problem] = [form.querySelector('button'), form.querySelector('.problem')]
  const value = (name) => form.elements.namedItem(name).value
  const before = (name) => form.elements.namedItem(name).defaultValue
  const status = form.elements.namedItem('status')
  const move = { east: Number(value('east')), north: Number(value('north')) }
  button.disabled = true
  problem.textContent = ''
  try {
    const saved = await send(`lipas/api/sites/${form.dataset.save}`, {
      ...(value('name') !== before('name') && { name: value('name') }),
      ...(!isSame(status.selectedOptions) && { status: status.value }),
      ...((move.east !== 0 || move.north !== 0) && { move }),
    })
    const joined = saved.jobs.filter((job) => job.status === 'duplicate').map((job) => job.id)
    const id = saved['correlation-id']
    Object.assign(trace.querySelector('[data-trace]').dataset, { trace: id, also: joined.join() })
    remember({ trace: id })
    say(`Saved. ${saved.jobs.length} jobs follow.`)
    await choose('site', form.dataset.save, { focus: false })
    place.querySelector('[data-key=save]')?.focus()
    await refresh()
  } catch (error) {
    problem.textContent = error.message
  } finally {
    button.disabled = false
  }
}

/** A press of a button of the board. */
async function press(path, body) {
  await send(path, body).catch((error) => say(error.message))
  await refreshBoard()
}

document.addEventListener('click', (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return
  const target = event.target.closest('[data-site],[data-square],[data-reset],[data-trouble]')
  if (target === null) return
  const { site, square, reset, trouble } = target.dataset
  event.preventDefault()
  if (site !== undefined) choose('site', site)
  else if (square !== undefined) choose('square', square)
  else if (reset !== undefined) press(`admin/api/breakers/${encodeURIComponent(reset)}/reset`, {})
  else press('lipas/api/trouble', { name: trouble, on: target.getAttribute('aria-pressed') !== 'true' })
})

document.addEventListener('submit', (event) => {
  if (event.target.dataset.save === undefined && event.target.role !== 'search') return
  event.preventDefault()
  if (event.target.dataset.save !== undefined) save(event.target)
  else search()
})

let searched = 0
async function search() {
  const query = find('q').value
  const mine = ++searched
  etags.delete(`sites?q=${encodeURIComponent(query)}`)
  const html = await piece(`sites?q=${encodeURIComponent(query)}`)
  if (mine !== searched || html === undefined) return
  results.innerHTML = html
  results.hidden = query.trim() === ''
  remember({ q: query.trim() || undefined })
  const count = results.querySelectorAll('li').length
  say(results.querySelector('.warn')?.textContent ?? `${count} ${count === 1 ? 'place' : 'places'} found`)
}

let typing
find('q').addEventListener('input', () => {
  clearTimeout(typing)
  typing = setTimeout(search, 250)
})

markChosen()
setInterval(refresh, EVERY_MS)
document.addEventListener('visibilitychange', refresh)
refresh()
