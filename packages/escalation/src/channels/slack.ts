// Slack, by an incoming webhook. It takes about one message a second, so all that waits goes into one.
import { type Channel, cut, type Message, SendFailed } from '../channel.ts'
import type { Fault, News } from '../fault.ts'
import { post } from '../http.ts'
import { linksFor } from '../links.ts'

export interface SlackOptions {
  /** An incoming webhook, which posts to one channel. Default: SLACK_OPS_WEBHOOK. */
  webhook?: string
}

/** Published limits: 50 blocks, 3000 characters a section, 150 a header. Two blocks are the header and the footer. */
const SECTIONS = 48
const SECTION = 3_000
const ERROR = 1_500
const MARKS = {
  info: ':information_source:',
  notice: ':information_source:',
  warning: ':warning:',
  error: ':red_circle:',
  critical: ':rotating_light:',
} as const

export function slack(options: SlackOptions = {}): Channel {
  return {
    kind: 'slack',
    spacingMs: 1_100,
    isPerFault: false,
    grows: true,
    tells: ['acknowledged', 'resolved'],
    async send(message, transports) {
      const url = options.webhook ?? process.env.SLACK_OPS_WEBHOOK
      if (!url)
        throw new SendFailed('refused', 'Slack has no webhook: set SLACK_OPS_WEBHOOK, or give slack({ webhook }).')
      await post(transports, { to: 'Slack', url, body: JSON.stringify(bodyOf(message)) })
    },
  }
}

function bodyOf(message: Message): object {
  const sections = [
    ...message.faults.map((fault) => faultText(fault, message)),
    ...message.news.map((news) => newsText(news)),
  ]
  const shown = sections.length > SECTIONS ? sections.slice(0, SECTIONS - 1) : sections
  const left = sections.length - shown.length
  if (left > 0) shown.push(`… and ${left} more. \`millrace escalations\` lists them all.`)
  const headline = headlineOf(message)
  const footer = `${message.isRepeat ? 'Sent again, it may have arrived before · ' : ''}${message.key}`
  return {
    text: cut(escaped(headline), 3_000),
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: cut(headline, 150) } },
      ...shown.map((text) => ({ type: 'section', text: { type: 'mrkdwn', text: cut(text, SECTION) } })),
      { type: 'context', elements: [{ type: 'mrkdwn', text: cut(escaped(footer), SECTION) }] },
    ],
  }
}

export function headlineOf({ faults, news }: Pick<Message, 'faults' | 'news'>): string {
  const [first] = faults
  if (first !== undefined && faults.length === 1) return first.title
  if (faults.length > 1) {
    const seen = faults.reduce((sum, { count }) => sum + count, 0)
    return `${faults.length} faults, seen ${seen} times`
  }
  const [told] = news
  if (told === undefined) return 'Nothing to report'
  return news.length === 1
    ? `${told.becomes === 'resolved' ? 'Resolved' : 'Acknowledged'}: ${told.fault.title}`
    : `News about ${news.length} faults`
}

function faultText(fault: Fault, { links }: Message): string {
  const { severity, title, queueTitle, count, tenants, error, owner, respondBy, attributes, action } = fault
  const facts = [
    queueTitle === null ? '' : `Queue ${escaped(queueTitle)}`,
    count > 1 ? `${count} times since ${shortTime(fault.firstAt)}` : shortTime(fault.lastAt),
    tenants.length === 0 ? '' : `tenants ${escaped(listed(tenants))}`,
    owner === null ? '' : `owner ${escaped(owner)}`,
    respondBy === null ? '' : `respond by ${shortTime(respondBy)}`,
    ...Object.entries(attributes).map(([name, value]) => `${escaped(name)} ${escaped(cut(value, 200))}`),
  ]
  const anchors = linksFor(fault, links).map(({ text, href }) => `<${href}|${escaped(text)}>`)
  const lines = [
    `${MARKS[severity]} *${escaped(cut(title, 600))}*`,
    facts.filter((fact) => fact !== '').join(' · '),
    error === null ? '' : `\`\`\`${escaped(cut(error.replaceAll('```', "'''"), ERROR))}\`\`\``,
    action === null ? '' : `Do: ${escaped(cut(action, 500))}`,
    anchors.join(' · '),
  ]
  return lines.filter((line) => line !== '').join('\n')
}

function newsText({ becomes, by, count, fault }: News): string {
  const often = count > 1 ? ` (${count} escalations)` : ''
  if (becomes === 'resolved') return `:white_check_mark: Resolved: ${escaped(cut(fault.title, 600))}${often}`
  return `:eyes: Acknowledged by ${escaped(by ?? 'somebody')}: ${escaped(cut(fault.title, 600))}${often}`
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
const listed = (names: readonly string[]): string =>
  names.length > 5 ? `${names.slice(0, 5).join(', ')} and ${names.length - 5} more` : names.join(', ')
const shortTime = (at: Date): string => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`
