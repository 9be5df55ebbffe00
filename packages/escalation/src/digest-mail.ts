// A message as mail, in HTML and as text. Tables and inline styles, because that is what mail programs keep; colors that are
// readable on white and on black, because many turn them over.
import type { Message } from './channel.ts'
import { cut } from './channel.ts'
import type { Fault, News } from './fault.ts'
import { type Links, linksFor } from './links.ts'

const COLORS = {
  info: '#2563eb',
  notice: '#2563eb',
  warning: '#b45309',
  error: '#dc2626',
  critical: '#9f1239',
} as const
const FONT = "font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"
const MONO = 'font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace'
const GREY = '#6b7280'
const SHOWN = 100

export function digestText({ faults, news, links, key, isRepeat }: Message, title: string): string {
  const parts = faults.slice(0, SHOWN).map((fault) => {
    const lines = [
      `* ${fault.title}`,
      `  ${factsOf(fault)
        .map(([label, value]) => `${label}: ${value}`)
        .join(' · ')}`,
      ...(fault.error === null ? [] : [`  ${cut(fault.error, 500).replaceAll('\n', '\n  ')}`]),
      ...linksFor(fault, links).map(({ text, href }) => `  ${text}: ${href}`),
    ]
    return lines.join('\n')
  })
  const told = news.map(
    ({ becomes, fault }) => `* ${becomes === 'resolved' ? 'Resolved' : 'Acknowledged'}: ${fault.title}`,
  )
  const more = faults.length > SHOWN ? [`… and ${faults.length - SHOWN} more: millrace escalations`] : []
  const repeat = isRepeat ? ['This mail is sent again: it may have arrived before.'] : []
  return [`Millrace: ${title}`, ...repeat, ...parts, ...told, ...more, `-- \n${key}`].join('\n\n')
}

export function digestHtml({ faults, news, links, key, isRepeat }: Message, title: string): string {
  const seen = faults.reduce((sum, { count }) => sum + count, 0)
  const tenants = new Set(faults.flatMap((fault) => fault.tenants)).size
  const numbers = [
    [faults.length, faults.length === 1 ? 'fault' : 'faults'],
    [seen, seen === 1 ? 'occurrence' : 'occurrences'],
    [tenants, tenants === 1 ? 'tenant hit' : 'tenants hit'],
  ] as const
  const left = faults.length - SHOWN
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark">
<title>${html(title)}</title>
<style>:root{color-scheme:light dark}@media (prefers-color-scheme:dark){.page{background:#111827!important}.card{background:#1f2937!important;border-top-color:#374151!important;border-right-color:#374151!important;border-bottom-color:#374151!important}.plain{border-left-color:#374151!important}.ink{color:#f3f4f6!important}.dim{color:#9ca3af!important}.link{color:#60a5fa!important}.code{background:#111827!important;color:#e5e7eb!important}}</style>
</head>
<body class="page" style="margin:0;padding:0;background:#f3f4f6">
<table role="presentation" class="page" width="100%" cellpadding="0" cellspacing="0" style="background:#f3f4f6"><tr><td align="center" style="padding:24px 12px">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:640px;text-align:left;${FONT}">
<tr><td style="padding:0 4px 16px">
<div class="dim" style="font-size:13px;letter-spacing:.08em;text-transform:uppercase;color:${GREY}">Millrace</div>
<div class="ink" style="font-size:24px;font-weight:700;color:#111827;padding-top:4px">${html(title)}</div>
${isRepeat ? `<div class="dim" style="font-size:13px;color:${GREY};padding-top:6px">This mail is sent again: it may have arrived before.</div>` : ''}
</td></tr>
${faults.length === 0 ? '' : numbersRow(numbers)}
${faults
  .slice(0, SHOWN)
  .map((fault) => faultRow(fault, links))
  .join('\n')}
${left > 0 ? card(`<div class="ink" style="font-size:14px;color:#374151">… and ${left} more. <span style="${MONO}">millrace escalations</span> lists them all.</div>`, GREY) : ''}
${news.map(newsRow).join('\n')}
<tr><td class="dim" style="padding:8px 4px;font-size:12px;color:${GREY}">${footer(links)}<br>${html(key)}</td></tr>
</table></td></tr></table></body></html>
`
}

function numbersRow(numbers: readonly (readonly [number, string])[]): string {
  const cells = numbers.map(
    ([number, label]) =>
      `<td width="33%" align="center" style="padding:14px 4px"><div class="ink" style="font-size:26px;font-weight:700;color:#111827">${number.toLocaleString('en-US')}</div><div class="dim" style="font-size:12px;color:${GREY}">${label}</div></td>`,
  )
  return `<tr><td style="padding-bottom:12px"><table role="presentation" class="card plain" width="100%" cellpadding="0" cellspacing="0" style="background:#ffffff;border:1px solid #e5e7eb;border-radius:8px"><tr>${cells.join('')}</tr></table></td></tr>`
}

function faultRow(fault: Fault, links: Links): string {
  const color = COLORS[fault.severity]
  const anchors = linksFor(fault, links).map(
    ({ text, href }) =>
      `<a href="${html(href)}" class="link" style="color:${COLORS.info};text-decoration:none">${html(text)}&nbsp;→</a>`,
  )
  const badge = `<span style="display:inline-block;background:${color};color:#ffffff;font-size:11px;font-weight:700;letter-spacing:.04em;text-transform:uppercase;border-radius:4px;padding:2px 7px">${fault.severity}</span>`
  const error =
    fault.error === null
      ? ''
      : `<div class="code" style="${MONO};font-size:12px;line-height:1.5;background:#f9fafb;color:#1f2937;border-radius:6px;padding:10px 12px;margin-top:10px;white-space:pre-wrap;word-break:break-word">${html(cut(fault.error, 600))}</div>`
  return card(
    `<table role="presentation" width="100%" cellpadding="0" cellspacing="0"><tr><td>${badge}</td><td align="right" class="ink" style="font-size:18px;font-weight:700;color:#111827">${fault.count.toLocaleString('en-US')}×</td></tr></table>
<div class="ink" style="font-size:15px;font-weight:600;line-height:1.4;color:#111827;padding-top:8px;word-break:break-word">${html(headingOf(fault))}</div>
<table role="presentation" cellpadding="0" cellspacing="0" style="font-size:13px;line-height:1.6;padding-top:6px">${factsOf(fault).map(factRow).join('')}</table>
${error}${anchors.length === 0 ? '' : `<div style="font-size:13px;padding-top:10px">${anchors.join(' &nbsp;&nbsp; ')}</div>`}`,
    color,
  )
}

const factRow = ([label, value]: readonly [string, string]): string =>
  `<tr><td valign="top" class="dim" style="color:${GREY};padding-right:14px;white-space:nowrap">${html(label)}</td><td class="ink" valign="top" style="color:#374151;word-break:break-word">${html(value)}</td></tr>`

/** The error stands below, and the count beside it: the heading repeats neither. */
const headingOf = ({ title, error, count }: Fault): string => {
  const withoutError = error === null ? title : title.replace(`: ${error.split('\n')[0]}`, '')
  return cut(withoutError.replace(` (${count} times)`, ''), 300)
}

function newsRow({ becomes, by, fault }: News): string {
  const what = becomes === 'resolved' ? 'Resolved' : `Acknowledged by ${by ?? 'somebody'}`
  return card(
    `<div class="ink" style="font-size:14px;color:#111827"><b>${html(what)}:</b> ${html(fault.title)}</div>`,
    '#059669',
  )
}

const card = (content: string, color: string): string =>
  `<tr><td style="padding-bottom:12px"><table role="presentation" class="card" width="100%" cellpadding="0" cellspacing="0" style="background:#ffffff;border:1px solid #e5e7eb;border-left:4px solid ${color};border-radius:8px"><tr><td style="padding:14px 16px">${content}</td></tr></table></td></tr>`

function footer(links: Links): string {
  const home = links.home()
  if (home === undefined)
    return '<span>millrace escalations lists them. Set MILLRACE_PUBLIC_URL to have links here.</span>'
  return `<a href="${html(home)}" class="dim" style="color:${GREY}">Open Millrace</a>`
}

function factsOf(fault: Fault): [label: string, value: string][] {
  const { queueTitle, count, tenants, firstAt, lastAt, owner, respondBy, undecided, kind, errorClass } = fault
  const facts: [string, string | null][] = [
    ['Queue', queueTitle],
    ['Seen', count > 1 ? `first ${time(firstAt)}, last ${time(lastAt)}` : time(lastAt)],
    ['Tenants', tenants.length === 0 ? null : listed(tenants)],
    ['Error', errorClass],
    ['Decision', kind === 'dead_job' ? decision(undecided, count) : null],
    ['Do', fault.action === null ? null : cut(fault.action, 500)],
    ['Owner', owner],
    ['Respond by', respondBy === null ? null : time(respondBy)],
    ...Object.entries(fault.attributes).map(([name, value]): [string, string] => [name, cut(value, 200)]),
  ]
  return facts.filter((fact): fact is [string, string] => fact[1] !== null)
}

function decision(undecided: number, count: number): string {
  if (undecided === 0) return 'made'
  return undecided === count ? 'waits for one' : `${undecided} of ${count} wait for one`
}

const time = (at: Date): string => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`
const listed = (names: readonly string[]): string =>
  names.length > 5 ? `${names.slice(0, 5).join(', ')} and ${names.length - 5} more` : names.join(', ')
const html = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
