// A strict reader of both text formats: it throws at whatever a careful scraper would refuse.

export interface ReadSample {
  name: string
  labels: Record<string, string>
  value: number
  exemplar?: { labels: Record<string, string>; value: number }
}

export interface ReadFamily {
  name: string
  type: string
  samples: ReadSample[]
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*/
const SUFFIXES: Record<string, string[]> = {
  counter: ['_total', '_created'],
  gauge: [''],
  histogram: ['_bucket', '_sum', '_count', '_created'],
  summary: ['', '_sum', '_count', '_created'],
  unknown: [''],
}

/** Families by name. Throws unless the page is well-formed, without duplicate series, with sound histograms. */
export function readPage(text: string, { isOpenMetrics }: { isOpenMetrics: boolean }): Map<string, ReadFamily> {
  if (!text.endsWith('\n')) throw new Error('the last line does not end')
  const lines = text.slice(0, -1).split('\n')
  if (isOpenMetrics && lines.pop() !== '# EOF') throw new Error('no # EOF at the end')
  const families = new Map<string, ReadFamily>()
  const seen = new Set<string>()
  let family: ReadFamily | undefined
  for (const line of lines) {
    const [, kind, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) ?(.*)$/.exec(line) ?? []
    if (kind === 'HELP') {
      if (families.has(name)) throw new Error(`${name} comes twice`)
      family = { name, type: '', samples: [] }
      families.set(name, family)
    } else if (kind === 'TYPE') {
      if (family?.name !== name || family.type !== '') throw new Error(`TYPE of ${name} is not behind its HELP`)
      if (SUFFIXES[rest] === undefined) throw new Error(`${name} has type ${rest}`)
      family.type = rest
    } else {
      if (line.startsWith('#') || line === '') throw new Error(`no such line: ${line}`)
      if (family === undefined) throw new Error(`a sample without a family: ${line}`)
      const sample = readSample(line, isOpenMetrics)
      checkName(family, sample, isOpenMetrics)
      const key = JSON.stringify([sample.name, Object.entries(sample.labels).sort()])
      if (seen.has(key)) throw new Error(`a series comes twice: ${line}`)
      seen.add(key)
      family.samples.push(sample)
    }
  }
  for (const each of families.values()) if (each.type === 'histogram') checkBuckets(each)
  return families
}

function checkName({ name, type }: ReadFamily, sample: ReadSample, isOpenMetrics: boolean): void {
  const suffixes = type === 'counter' && !isOpenMetrics ? [''] : (SUFFIXES[type] as string[])
  if (!suffixes.some((suffix) => sample.name === name + suffix))
    throw new Error(`${sample.name} is no sample of the ${type} ${name}`)
  if (type === 'counter' && !(sample.value >= 0)) throw new Error(`${sample.name} is ${sample.value}`)
}

function readSample(line: string, isOpenMetrics: boolean): ReadSample {
  const reader = new Reader(line)
  const name = reader.match(NAME)
  const labels = reader.labels()
  reader.match(/^ /)
  const value = reader.number()
  if (reader.isDone) return { name, labels, value }
  if (!isOpenMetrics) throw new Error(`something behind the value: ${line}`)
  reader.match(/^ # /)
  const exemplarLabels = reader.labels()
  reader.match(/^ /)
  const exemplar = { labels: exemplarLabels, value: reader.number() }
  reader.match(/^ \d+(\.\d+)?$/)
  if (!name.endsWith('_bucket') && !name.endsWith('_total')) throw new Error(`${name} may have no exemplar`)
  if (Object.entries(exemplar.labels).flat().join('').length > 128) throw new Error(`an exemplar is too long: ${line}`)
  return { name, labels, value, exemplar }
}

class Reader {
  #rest: string

  constructor(line: string) {
    this.#rest = line
  }

  get isDone(): boolean {
    return this.#rest === ''
  }

  match(pattern: RegExp): string {
    const [found] = pattern.exec(this.#rest) ?? []
    if (found === undefined) throw new Error(`expected ${pattern} at: ${this.#rest}`)
    this.#rest = this.#rest.slice(found.length)
    return found
  }

  number(): number {
    const text = this.match(/^([+-]?(\d+(\.\d+)?|\.\d+)([eE][+-]?\d+)?|[+-]Inf|NaN)/)
    return Number(text.replace('Inf', 'Infinity'))
  }

  labels(): Record<string, string> {
    const labels: Record<string, string> = {}
    if (!this.#rest.startsWith('{')) return labels
    this.match(/^\{/)
    while (!this.#rest.startsWith('}')) {
      const name = this.match(NAME)
      if (name in labels) throw new Error(`label ${name} comes twice`)
      const value = this.match(/^="(\\[\\n"]|[^\\\n"])*"/)
      labels[name] = value.slice(2, -1).replace(/\\(.)/g, (_, each) => (each === 'n' ? '\n' : each))
      if (this.#rest.startsWith(',')) this.match(/^,/)
    }
    this.match(/^\}/)
    return labels
  }
}

/** Buckets of a series come together, in order, never fall, and end in +Inf with the count. */
function checkBuckets({ name, samples }: ReadFamily): void {
  const series = new Map<string, ReadSample[]>()
  for (const sample of samples) {
    const { le: _, ...labels } = sample.labels
    const key = JSON.stringify(Object.entries(labels).sort())
    series.set(key, [...(series.get(key) ?? []), sample])
  }
  for (const each of series.values()) {
    const buckets = each.filter((sample) => sample.name === `${name}_bucket`)
    const bounds = buckets.map(({ labels }) => Number((labels.le as string).replace('Inf', 'Infinity')))
    const count = each.find((sample) => sample.name === `${name}_count`)?.value
    const isOrdered = bounds.every((bound, i) => i === 0 || bound > (bounds[i - 1] as number))
    const isRising = buckets.every(({ value }, i) => i === 0 || value >= (buckets[i - 1]?.value as number))
    if (!isOrdered || !isRising || bounds.at(-1) !== Number.POSITIVE_INFINITY || buckets.at(-1)?.value !== count)
      throw new Error(`the buckets of ${name} are not sound: ${JSON.stringify(each)}`)
    if (buckets.some(({ labels }) => !/\.|e|Inf/.test(labels.le as string)))
      throw new Error(`a bound of ${name} is not written as a float`)
  }
}
