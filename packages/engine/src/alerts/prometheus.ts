// The alerts as rules for Prometheus: the same list that the engine evaluates.
import { type AlertOptions, alertRules } from './options.ts'
import type { AlertRule } from './rule.ts'

/** The file that Prometheus reads: built-in alerts and a program's own, as far as they have an expression. */
export function prometheusRules(options: AlertOptions = {}): string {
  const { builtIn, own } = alertRules(options)
  const groups = [
    { name: 'millrace', rules: builtIn },
    { name: 'millrace-workload', rules: own },
  ]
  const texts = groups.flatMap(({ name, rules }) => {
    const exported = rules.filter(({ prometheus }) => prometheus !== undefined)
    return exported.length === 0 ? [] : `  - name: ${name}\n    rules:\n${exported.map(ruleText).join('')}`
  })
  return `groups:\n${texts.join('')}`
}

function ruleText(rule: AlertRule): string {
  const { name, severity, summary, action, link, forMs, prometheus } = rule
  const annotations = { summary, action, ...(link !== null && { runbook: link }) }
  return [
    `      - alert: ${pascal(name)}`,
    `        expr: ${quoted(prometheus?.(String(rule.threshold)) ?? '')}`,
    ...(forMs === 0 ? [] : [`        for: ${forMs % 1_000 === 0 ? `${forMs / 1_000}s` : `${forMs}ms`}`]),
    '        labels:',
    `          severity: ${severity}`,
    '        annotations:',
    ...Object.entries(annotations).map(([key, text]) => `          ${key}: ${quoted(text)}`),
    '',
  ].join('\n')
}

/** 'queue_depth' is MillraceQueueDepth. */
const pascal = (name: string): string =>
  `Millrace${name
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')}`

/** A JSON text is a YAML text. */
const quoted = (text: string): string => JSON.stringify(text)
