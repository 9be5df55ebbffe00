// The sandbox internet: the outside services that Village Homepage uses, on one port of this machine, and a mail server.
// `millrace dev` starts it; tests start it in their process, or as a process of its own (main.ts).
import { Mailboxes, type Mode, PagerDuty, Received, Slack, Switches, startFront, startSmtp } from '@millrace/sandbox'
import { Anthropic } from './anthropic.ts'
import { blocksOf, callNoteOf, INTRO } from './control.ts'
import { Feeds } from './feeds.ts'
import { Links } from './links.ts'
import { AlphaVantage, Stooq } from './quotes.ts'
import { OpenMeteo, WeatherService } from './weather.ts'

const TITLES = {
  feeds: 'Feeds',
  links: 'Linked pages',
  anthropic: 'Anthropic',
  'alpha-vantage': 'Alpha Vantage',
  stooq: 'Stooq',
  nws: 'Weather Service',
  'open-meteo': 'Open-Meteo',
  pagerduty: 'PagerDuty',
  slack: 'Slack',
  smtp: 'Mail server',
} as const
type ServiceName = keyof typeof TITLES

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
  readonly received: Received<ServiceName>
  /** Where a service is reached, without a slash at the end. */
  urlOf(service: Exclude<ServiceName, 'smtp'>): string
  set(service: ServiceName, mode: Mode, options?: { delayMs?: number }): void
  stop(): Promise<void>
}

export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { misbehaves = true, latencyMs = 0, now = () => new Date() } = options
  const [switches, received, mailboxes] = [new Switches<ServiceName>(), new Received<ServiceName>(), new Mailboxes()]
  const services = {
    feeds: new Feeds({ now, isSlow: misbehaves }),
    links: new Links({ isSlow: misbehaves }),
    anthropic: new Anthropic({ misbehaves, latencyMs }),
    'alpha-vantage': new AlphaVantage({ today: now }),
    stooq: new Stooq({ today: now }),
    nws: new WeatherService({ misbehaves, now }),
    'open-meteo': new OpenMeteo({ now }),
    pagerduty: new PagerDuty(),
    slack: new Slack(),
  }
  const { anthropic, pagerduty: pagerDuty, slack } = services
  const smtp = await startSmtp({ mailboxes, received, switches, misbehaves })
  const told = { anthropic, pagerDuty, slack, mailboxes }
  const front = await startFront({
    ...{ title: 'Sandbox internet', intro: INTRO, titles: TITLES, switches, received, services },
    blocks: () => blocksOf(told),
    callNote: () => callNoteOf(told),
    state: () => ({ incidents: pagerDuty.incidents, messages: slack.messages, smtpUrl: smtp.url }),
    ...(options.port !== undefined && { port: options.port }),
  })
  return {
    ...{ url: front.url, address: front.address, smtpUrl: smtp.url, urlOf: front.urlOf },
    ...{ anthropic, alphaVantage: services['alpha-vantage'], weather: services.nws, pagerDuty, slack },
    ...{ mailboxes, received },
    set: (service, mode, setting) => switches.set(service, mode, setting),
    async stop() {
      await front.stop()
      await smtp.stop()
    },
  }
}
