// The sandbox's own pages: what it received, as a page and as JSON, and a switch for each service.
import { type Block, type ControlPage, controlPage } from './control-page.ts'
import { type Answer, type Call, json, objectOf, text } from './exchange.ts'
import type { Received } from './received.ts'
import { isMode, MODES, SLOW_MS, type Switches } from './switches.ts'

const MOST_DELAY_MS = 600_000
const CALLS_SHOWN = 100
const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
}

export interface ControlOptions<Name extends string> {
  /** Of the page: 'Sandbox internet'. */
  readonly title: string
  /** A sentence or two: what there is to try. */
  readonly intro: string
  /** By service, as people call it. */
  readonly titles: Readonly<Record<Name, string>>
  readonly switches: Switches<Name>
  readonly received: Received<Name>
  /** What the services were told, for people. */
  readonly blocks?: () => readonly Block[]
  /** A sentence above the latest calls. */
  readonly callNote?: () => string
  /** The same for programs: further keys of `GET /control`. */
  readonly state?: () => Readonly<Record<string, unknown>>
}

export function control<Name extends string>(call: Call, options: ControlOptions<Name>): Answer {
  const { method, path } = call
  if (method === 'GET' && path === '/')
    return { status: 200, headers: PAGE_HEADERS, body: controlPage(pageOf(options)) }
  if (method === 'GET' && path === '/control') {
    const { services, calls } = pageOf(options)
    return json(200, { services: services.map(({ title: _, ...service }) => service), calls, ...options.state?.() })
  }
  if (method === 'POST' && path.startsWith('/control/')) return change(call, options)
  return text(404, `There is no ${path} in the sandbox. Its page is at /.`)
}

function pageOf<Name extends string>(options: ControlOptions<Name>): ControlPage {
  const { title, intro, titles, switches, received, blocks = () => [], callNote = () => '' } = options
  return {
    title,
    intro,
    services: namesOf(options).map((name) => ({
      ...{ name, title: titles[name] },
      ...switches.get(name),
      calls: received.count(name),
    })),
    blocks: blocks(),
    callNote: callNote(),
    calls: received.calls.slice(0, CALLS_SHOWN).map((call) => ({ ...call, title: titles[call.service] })),
  }
}

const namesOf = <Name extends string>({ titles }: ControlOptions<Name>): Name[] => Object.keys(titles) as Name[]

/** From a form of our page, or as JSON: {"mode": "down"}, for a slow service also {"delayMs": 500}. */
function change<Name extends string>(call: Call, options: ControlOptions<Name>): Answer {
  const { switches } = options
  const given = decodeURIComponent(call.path.slice('/control/'.length))
  const names = namesOf(options)
  const name = names.find((each) => each === given)
  if (name === undefined) return json(404, { error: `There is no service "${given}". There are: ${names.join(', ')}.` })
  // A page of another origin must not be able to throw a switch.
  const site = call.headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin')
    return json(403, { error: 'Switches are thrown from this page only.' })
  // `curl -d` says that it sends a form, whatever it sends.
  const program = objectOf(call)
  const wanted = program ?? { mode: new URLSearchParams(call.body.toString()).get('mode') }
  const { mode, delayMs = SLOW_MS } = wanted as { mode?: unknown; delayMs?: unknown }
  if (!isMode(mode)) return json(400, { error: `"mode" is not valid: expected one of ${MODES.join(', ')}.` })
  if (typeof delayMs !== 'number' || !(delayMs >= 0 && delayMs <= MOST_DELAY_MS))
    return json(400, { error: `"delayMs" is not valid: expected a number from 0 to ${MOST_DELAY_MS}.` })
  switches.set(name, mode, { delayMs })
  return program === undefined
    ? { status: 303, headers: { location: '/' } }
    : json(200, { name, ...switches.get(name) })
}
