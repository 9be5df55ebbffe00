// The sandbox's own pages: what it received, as a page and as JSON, and a switch for each service.
import { controlPage } from './control-page.ts'
import { type Answer, type Call, json, objectOf, text } from './exchange.ts'
import type { Parts } from './server.ts'
import { isMode, isService, MODES, SERVICES, SLOW_MS } from './switches.ts'

const MOST_DELAY_MS = 600_000
const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
}

export function control(call: Call, parts: Parts): Answer {
  const { method, path } = call
  if (method === 'GET' && path === '/') return { status: 200, headers: PAGE_HEADERS, body: controlPage(stateOf(parts)) }
  if (method === 'GET' && path === '/control') return json(200, stateOf(parts))
  if (method === 'POST' && path.startsWith('/control/')) return change(call, parts)
  return text(404, `There is no ${path} in the sandbox. Its page is at /.`)
}

/** Everything that the page shows. */
export function stateOf({ switches, received, mailboxes, services, smtpUrl }: Parts) {
  return {
    services: SERVICES.map((name) => ({ name, ...switches.get(name), calls: received.count(name) })),
    incidents: services.pagerduty.incidents,
    messages: services.slack.messages,
    mails: mailboxes.mails.map(({ raw: _, ...mail }) => mail),
    anthropic: { calls: services.anthropic.billed.length, microdollars: services.anthropic.microdollars },
    calls: received.calls.slice(0, 100),
    smtpUrl,
  }
}

export type SandboxState = ReturnType<typeof stateOf>

/** From a form of our page, or as JSON: {"mode": "down"}, for a slow service also {"delayMs": 500}. */
function change(call: Call, { switches }: Parts): Answer {
  const name = decodeURIComponent(call.path.slice('/control/'.length))
  if (!isService(name)) return json(404, { error: `There is no service "${name}". There are: ${SERVICES.join(', ')}.` })
  // A page of another origin must not be able to throw a switch.
  const site = call.headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin')
    return json(403, { error: 'Switches are thrown from this page only.' })
  // `curl -d` says that it sends a form, whatever it sends.
  const program = objectOf(call)
  const given = program ?? { mode: new URLSearchParams(call.body.toString()).get('mode') }
  const { mode, delayMs = SLOW_MS } = given as { mode?: unknown; delayMs?: unknown }
  if (!isMode(mode)) return json(400, { error: `"mode" is not valid: expected one of ${MODES.join(', ')}.` })
  if (typeof delayMs !== 'number' || !(delayMs >= 0 && delayMs <= MOST_DELAY_MS))
    return json(400, { error: `"delayMs" is not valid: expected a number from 0 to ${MOST_DELAY_MS}.` })
  switches.set(name, mode, { delayMs })
  return program === undefined
    ? { status: 303, headers: { location: '/' } }
    : json(200, { name, ...switches.get(name) })
}
