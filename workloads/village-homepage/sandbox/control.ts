// What the sandbox's page shows beside its switches.
import { type Block, counted, type Mailboxes, type PagerDuty, type Slack } from '@millrace/sandbox'
import type { Anthropic } from './anthropic.ts'

export const INTRO =
  'These services stand in for the outside world. Nothing here leaves this machine. Break one and watch what the jobs do: with Alpha Vantage down, somebody is paged after five attempts.'

interface Told {
  readonly anthropic: Anthropic
  readonly pagerDuty: PagerDuty
  readonly slack: Slack
  readonly mailboxes: Mailboxes
}

export const blocksOf = ({ pagerDuty, slack, mailboxes }: Told): Block[] => [
  {
    title: 'Incidents (PagerDuty)',
    empty: 'Nobody was paged yet.',
    rows: pagerDuty.incidents.map(({ summary, state, openedAt, severity, triggers, dedupKey }) => ({
      label: summary,
      tag: state,
      ...(state !== 'acknowledged' && { tone: state === 'resolved' ? ('good' as const) : ('bad' as const) }),
      at: openedAt,
      notes: [severity, counted(triggers, 'event'), `key ${dedupKey}`],
    })),
  },
  {
    title: 'Messages (Slack)',
    empty: 'No message yet. The first alert appears here.',
    rows: slack.messages.map(({ channel, at, text, body }) => ({ label: text, tag: channel, body, at })),
  },
  {
    title: 'Mail',
    empty: 'No mail yet. Budget notices and the daily digest appear here.',
    rows: mailboxes.mails.map(({ to, from, at, subject, text }) => ({
      label: subject,
      body: text,
      at,
      notes: [`to ${to}`, `from ${from}`],
    })),
  },
]

export const callNoteOf = ({ anthropic: { billed, microdollars } }: Told): string =>
  `Anthropic has billed ${counted(billed.length, 'call')}, $${(microdollars / 1e6).toFixed(4)}.`
