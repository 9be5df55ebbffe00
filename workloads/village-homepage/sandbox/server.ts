// The sandbox internet: the outside services that Village Homepage uses, on one port of this machine, and a mail server.
// `millrace dev` starts it; tests start it in their process, or as a process of its own (main.ts).
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Anthropic } from './anthropic.ts'
import { control } from './control.ts'
import { type Answer, bodyOf, type Call, type Service, send, text } from './exchange.ts'
import { Feeds } from './feeds.ts'
import { Mailboxes } from './mail/mailboxes.ts'
import { startSmtp } from './mail/smtp.ts'
import { PagerDuty, Slack } from './pager.ts'
import { AlphaVantage, Stooq } from './quotes.ts'
import { Received } from './received.ts'
import { type Mode, type ServiceName, Switches } from './switches.ts'
import { OpenMeteo, WeatherService } from './weather.ts'

export interface SandboxOptions {
  /** Where to listen; the next free port if it is taken. Default: any free port. */
  readonly port?: number
  /** Whether services fail now and then by themselves. Default true. */
  readonly misbehaves?: boolean
  /** How long a language model takes to answer. Default 0. */
  readonly latencyMs?: number
  /** Default: the time of this machine. */
  readonly now?: () => Date
}

export interface Sandbox {
  /** Of the control page. */
  readonly url: string
  /** host:port, for the allow-list of the egress. */
  readonly address: string
  readonly smtpUrl: string
  readonly anthropic: Anthropic
  readonly alphaVantage: AlphaVantage
  readonly weather: WeatherService
  readonly pagerDuty: PagerDuty
  readonly slack: Slack
  readonly mailboxes: Mailboxes
  readonly received: Received
  /** Where a service is reached, without a slash at the end. */
  urlOf(service: Exclude<ServiceName, 'smtp'>): string
  set(service: ServiceName, mode: Mode, options?: { delayMs?: number }): void
  stop(): Promise<void>
}

/** The first part of the path decides. */
const PREFIXES = {
  feeds: 'feeds',
  anthropic: 'anthropic',
  'alpha-vantage': 'alphavantage',
  stooq: 'stooq',
  nws: 'nws',
  'open-meteo': 'open-meteo',
  pagerduty: 'pagerduty',
  slack: 'slack',
} as const satisfies Record<Exclude<ServiceName, 'smtp'>, string>

type HttpService = keyof typeof PREFIXES

export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { misbehaves = true, latencyMs = 0, now = () => new Date() } = options
  const [switches, received, mailboxes] = [new Switches(), new Received(), new Mailboxes()]
  const services = {
    feeds: new Feeds({ now, isSlow: misbehaves }),
    anthropic: new Anthropic({ misbehaves, latencyMs }),
    'alpha-vantage': new AlphaVantage({ today: now }),
    stooq: new Stooq({ today: now }),
    nws: new WeatherService({ misbehaves, now }),
    'open-meteo': new OpenMeteo({ now }),
    pagerduty: new PagerDuty(),
    slack: new Slack(),
  } satisfies Record<HttpService, Service>
  const smtp = await startSmtp({ mailboxes, received, switches, misbehaves })
  const parts = { switches, received, mailboxes, services, smtpUrl: smtp.url }
  const server = createServer((request, response) => {
    answer(request, parts)
      .then((found) => send(response, found))
      .catch(() => fail(response))
  })
  const port = await listen(server, options.port ?? 0)
  const url = `http://127.0.0.1:${port}`
  return {
    url,
    address: `127.0.0.1:${port}`,
    smtpUrl: smtp.url,
    ...{ anthropic: services.anthropic, alphaVantage: services['alpha-vantage'], weather: services.nws },
    ...{ pagerDuty: services.pagerduty, slack: services.slack, mailboxes, received },
    urlOf: (service) => `${url}/${PREFIXES[service]}`,
    set: (service, mode, setting) => switches.set(service, mode, setting),
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await smtp.stop()
    },
  }
}

export interface Parts {
  readonly switches: Switches
  readonly received: Received
  readonly mailboxes: Mailboxes
  readonly smtpUrl: string
  readonly services: Readonly<Record<HttpService, Service>> & {
    readonly anthropic: Anthropic
    readonly pagerduty: PagerDuty
    readonly slack: Slack
  }
}

async function answer(request: IncomingMessage, parts: Parts): Promise<Answer> {
  const url = new URL(request.url ?? '/', 'http://sandbox')
  const body = await bodyOf(request)
  if (body === undefined) return text(413, 'The request is too large for the sandbox.')
  const { method = 'GET', headers } = request
  const [, prefix = '', ...rest] = url.pathname.split('/')
  const service = (Object.keys(PREFIXES) as HttpService[]).find((name) => PREFIXES[name] === prefix)
  const call = { method, path: `/${rest.join('/')}`, query: url.searchParams, headers, body }
  if (service === undefined) return control({ ...call, path: url.pathname }, parts)
  const answered = await switched(service, call, parts)
  // A key is nobody's business, even one for the sandbox.
  url.searchParams.delete('apikey')
  const what = `${method} ${call.path}${url.search}`
  parts.received.add({ at: new Date().toISOString(), service, what, status: answered.status })
  return answered
}

async function switched(service: HttpService, call: Call, { services, switches }: Parts): Promise<Answer> {
  const { mode, delayMs } = switches.get(service)
  if (mode === 'down') return text(503, 'Service Unavailable')
  if (mode === 'limited') return services[service].limited(call)
  if (mode === 'slow') await new Promise((resolve) => setTimeout(resolve, delayMs))
  return services[service].answer(call)
}

/** Loopback only: the sandbox has no passwords. */
async function listen(server: Server, port: number): Promise<number> {
  const tries = port === 0 ? [0] : [port, port + 1, port + 2, port + 3, 0]
  for (const each of tries) {
    const isOurs = await new Promise<boolean>((resolve, reject) => {
      const refuse = (error: NodeJS.ErrnoException) => (error.code === 'EADDRINUSE' ? resolve(false) : reject(error))
      server.once('error', refuse)
      server.listen(each, '127.0.0.1', () => {
        server.off('error', refuse)
        resolve(true)
      })
    })
    if (isOurs) return (server.address() as AddressInfo).port
  }
  throw new Error(`The sandbox found no free port from ${port} on. Give it another one.`)
}

function fail(response: ServerResponse): void {
  if (response.headersSent) response.destroy()
  else send(response, text(500, 'The sandbox failed to answer.'))
}
