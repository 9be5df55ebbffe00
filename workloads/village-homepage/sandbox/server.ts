// The sandbox internet: the outside services that Village Homepage uses, on one port of this machine, and a mail server.
// `millrace dev` starts it; tests start it in their process, or as a process of its own (main.ts).
import {
  Mailboxes,
  type Mode,
  PagerDuty,
  Received,
  Slack,
  Switches,
  startFront,
  startImap,
  startSmtp,
} from '@millrace/sandbox'
import { Anthropic } from './anthropic.ts'
import { Cdn } from './cdn.ts'
import { blocksOf, callNoteOf, INTRO } from './control.ts'
import { Feeds } from './feeds.ts'
import { Links } from './links.ts'
import { startNeighbours } from './neighbour.ts'
import { AlphaVantage, Stooq } from './quotes.ts'
import { Sites } from './sites.ts'
import { Instagram, Mastodon } from './social.ts'
import { OpenMeteo, WeatherService } from './weather.ts'

const TITLES = {
  feeds: 'Feeds',
  links: 'Linked pages',
  sites: 'Good sites',
  cdn: 'CDN',
  anthropic: 'Anthropic',
  'alpha-vantage': 'Alpha Vantage',
  stooq: 'Stooq',
  nws: 'Weather Service',
  'open-meteo': 'Open-Meteo',
  instagram: 'Instagram',
  mastodon: 'Mastodon',
  pagerduty: 'PagerDuty',
  slack: 'Slack',
  smtp: 'Mail server',
  imap: 'Mailboxes',
} as const
type ServiceName = keyof typeof TITLES

const RELAY_ACCOUNT = 'relay'

/** All mail to the relay's domains is taken by one account; anybody else has their own. */
const accountOf = (address: string): string => (/@relay\./i.test(address) ? RELAY_ACCOUNT : address.toLowerCase())

export interface SandboxOptions {
  /** Where to listen; the next free port if it is taken. Default: any free port. */
  readonly port?: number
  /** Whether services fail now and then by themselves. Default true. */
  readonly misbehaves?: boolean
  /** How long a language model takes to answer. Default 0. */
  readonly latencyMs?: number
  /** How long neighbours think before they answer a mail. Default 4 s. */
  readonly answersAfterMs?: number
  /** Default: the time of this machine. */
  readonly now?: () => Date
}

export interface Sandbox {
  /** Of the control page. */
  readonly url: string
  /** host:port, for the allow-list of the egress. */
  readonly address: string
  readonly smtpUrl: string
  /** Of the account that takes all mail to masked addresses. */
  readonly imapUrl: string
  readonly anthropic: Anthropic
  readonly alphaVantage: AlphaVantage
  readonly weather: WeatherService
  readonly cdn: Cdn
  readonly pagerDuty: PagerDuty
  readonly slack: Slack
  readonly mailboxes: Mailboxes
  readonly received: Received<ServiceName>
  /** Where a service is reached, without a slash at the end. */
  urlOf(service: Exclude<ServiceName, 'smtp' | 'imap'>): string
  set(service: ServiceName, mode: Mode, options?: { delayMs?: number }): void
  stop(): Promise<void>
}

export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { misbehaves = true, latencyMs = 0, answersAfterMs: afterMs = 4_000, now = () => new Date() } = options
  const [switches, received, mailboxes] = [
    new Switches<ServiceName>(),
    new Received<ServiceName>(),
    new Mailboxes({ accountOf }),
  ]
  const services = {
    feeds: new Feeds({ now, isSlow: misbehaves }),
    links: new Links({ isSlow: misbehaves }),
    sites: new Sites(),
    cdn: new Cdn({ misbehaves }),
    anthropic: new Anthropic({ misbehaves, latencyMs }),
    'alpha-vantage': new AlphaVantage({ today: now }),
    stooq: new Stooq({ today: now }),
    nws: new WeatherService({ misbehaves, now }),
    'open-meteo': new OpenMeteo({ now }),
    instagram: new Instagram({ now }),
    mastodon: new Mastodon({ now }),
    pagerduty: new PagerDuty(),
    slack: new Slack(),
  }
  const { anthropic, pagerduty: pagerDuty, slack } = services
  const smtp = await startSmtp({ mailboxes, received, switches, misbehaves })
  const imap = await startImap({ mailboxes, received, switches })
  const stopNeighbours = startNeighbours({ mailboxes, smtpUrl: smtp.url, afterMs, misbehaves })
  const told = { anthropic, pagerDuty, slack, mailboxes }
  const imapUrl = imap.urlOf(RELAY_ACCOUNT)
  const front = await startFront({
    ...{ title: 'Sandbox internet', intro: INTRO, titles: TITLES, switches, received, services },
    blocks: () => blocksOf(told),
    callNote: () => callNoteOf(told),
    state: () => ({ incidents: pagerDuty.incidents, messages: slack.messages, smtpUrl: smtp.url, imapUrl }),
    ...(options.port !== undefined && { port: options.port }),
  })
  return {
    ...{ url: front.url, address: front.address, smtpUrl: smtp.url, imapUrl, urlOf: front.urlOf },
    ...{ anthropic, alphaVantage: services['alpha-vantage'], weather: services.nws, cdn: services.cdn },
    ...{ pagerDuty, slack },
    ...{ mailboxes, received },
    set: (service, mode, setting) => switches.set(service, mode, setting),
    async stop() {
      await stopNeighbours()
      await front.stop()
      await smtp.stop()
      await imap.stop()
    },
  }
}
