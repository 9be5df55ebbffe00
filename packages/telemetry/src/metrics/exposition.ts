// The page: Prometheus' text format and OpenMetrics, from the same families.
import type { Exemplar, Family, FamilyType, Labels, Sample, Snapshot } from './family.ts'

export interface Page {
  readonly contentType: string
  readonly body: string
}

const PROMETHEUS = 'text/plain; version=0.0.4; charset=utf-8'
const OPENMETRICS = 'application/openmetrics-text; version=1.0.0; charset=utf-8'

/** `accept`: the header of the request. OpenMetrics for those that prefer it, the older format for all others. */
export function pageOf(snapshot: Snapshot, accept = ''): Page {
  if (!prefersOpenMetrics(accept)) {
    return { contentType: PROMETHEUS, body: snapshot.map((family) => familyText(family, false)).join('') }
  }
  return { contentType: OPENMETRICS, body: `${snapshot.map((family) => familyText(family, true)).join('')}# EOF\n` }
}

function prefersOpenMetrics(accept: string): boolean {
  const types = accept.split(',').map((part) => {
    const [type = '', ...parameters] = part.split(';').map((each) => each.trim().toLowerCase())
    const quality = parameters.find((each) => each.startsWith('q='))
    return { type, quality: quality === undefined ? 1 : Number(quality.slice(2)) || 0 }
  })
  const best = (wanted: readonly string[]) =>
    Math.max(0, ...types.filter(({ type }) => wanted.includes(type)).map(({ quality }) => quality))
  const openMetrics = best(['application/openmetrics-text'])
  return openMetrics > 0 && openMetrics >= best(['text/plain', 'text/*', '*/*'])
}

function familyText({ name, help, type, samples }: Family, isOpenMetrics: boolean): string {
  const named = isOpenMetrics ? openMetricsFamily(name, type) : { name, type }
  const lines = [`# HELP ${named.name} ${escapedHelp(help, isOpenMetrics)}`, `# TYPE ${named.name} ${named.type}`]
  for (const sample of samples) lines.push(sampleText(name, sample, isOpenMetrics))
  return `${lines.join('\n')}\n`
}

/**
 * In OpenMetrics a counter's samples end in `_total`, and its family has the name without it. A counter whose name does not end
 * so is exported as of unknown type: otherwise its name would change with the format.
 */
function openMetricsFamily(name: string, type: FamilyType): { name: string; type: FamilyType | 'unknown' } {
  if (type !== 'counter') return { name, type }
  return name.endsWith('_total') ? { name: name.slice(0, -'_total'.length), type } : { name, type: 'unknown' }
}

function sampleText(name: string, { suffix, labels, value, exemplar }: Sample, isOpenMetrics: boolean): string {
  const line = `${name}${suffix}${labelText(labels)} ${numberText(value)}`
  return isOpenMetrics && exemplar !== undefined ? `${line} # ${exemplarText(exemplar)}` : line
}

const exemplarText = ({ labels, value, timestamp }: Exemplar): string =>
  `${labelText(labels) || '{}'} ${numberText(value)} ${timestamp.toFixed(3)}`

function labelText(labels: Labels): string {
  const parts = Object.entries(labels).map(([name, value]) => `${name}="${escapedValue(value)}"`)
  return parts.length === 0 ? '' : `{${parts.join(',')}}`
}

const escapedValue = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"')

function escapedHelp(text: string, isOpenMetrics: boolean): string {
  const escaped = text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
  return isOpenMetrics ? escaped.replaceAll('"', '\\"') : escaped
}

function numberText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf'
  if (value === Number.NEGATIVE_INFINITY) return '-Inf'
  return String(value)
}

/** The bound of a bucket in the one way to write it: '1.0', not '1'. The same in both formats, so that no series changes. */
export const boundText = (bound: number): string =>
  Number.isInteger(bound) && Math.abs(bound) < 1e16 ? bound.toFixed(1) : numberText(bound)
