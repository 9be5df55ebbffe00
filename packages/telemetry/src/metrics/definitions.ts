// Metrics of a program's own: defined once, used from handlers, exported by whatever lists them.
import * as prom from 'prom-client'
import { activeTrace } from './exemplars.ts'
import type { Aggregate } from './family.ts'
import { OTHER } from './tenant-labels.ts'

export interface MetricOptions<Label extends string> {
  /** What it measures: shown on the page. */
  readonly help: string
  readonly labels?: readonly Label[]
  /** So many values of each label have series of their own; further ones are counted as 'other'. Default 500. */
  readonly maxLabelValues?: number
}

export interface GaugeOptions<Label extends string> extends MetricOptions<Label> {
  /** How the gauges of several processes of one supervisor become one. Default 'sum'. */
  readonly aggregate?: Aggregate
  /** Of a gauge without labels: asked at each scrape. */
  readonly read?: () => number
}

export interface HistogramOptions<Label extends string> extends MetricOptions<Label> {
  /** Upper bounds, ascending. Default: 5 ms to 10 s. */
  readonly buckets?: readonly number[]
}

type Values<Label extends string> = Readonly<Record<Label, string | number>>
/** A metric without labels is given none. */
type Given<Label extends string, Rest extends unknown[]> = [Label] extends [never] ? Rest : [Values<Label>, ...Rest]

abstract class Defined<Label extends string> {
  readonly name: string
  readonly #labels: readonly Label[]
  readonly #most: number
  readonly #known = new Map<string, Set<string>>()

  constructor(name: string, { labels = [], maxLabelValues = 500 }: MetricOptions<Label>) {
    this.name = name
    this.#labels = labels
    this.#most = maxLabelValues
  }

  /** The prom-client metric behind it. */
  abstract readonly metric: prom.Metric

  /** What a call was given, with its labels within their bounds. */
  protected given<Rest extends unknown[]>(args: unknown[]): [Record<string, string>, ...Rest] {
    if (this.#labels.length === 0) return [{}, ...(args as Rest)]
    const [values, ...rest] = args as [Values<Label>, ...Rest]
    return [
      Object.fromEntries(Object.entries(values).map(([label, value]) => [label, this.#bounded(label, String(value))])),
      ...rest,
    ]
  }

  #bounded(label: string, value: string): string {
    let known = this.#known.get(label)
    if (known === undefined) {
      known = new Set()
      this.#known.set(label, known)
    }
    if (known.has(value)) return value
    if (known.size >= this.#most) return OTHER
    known.add(value)
    return value
  }
}

class DefinedCounter<Label extends string = never> extends Defined<Label> {
  readonly metric: prom.Counter

  constructor(name: string, options: MetricOptions<Label>) {
    super(name, options)
    this.metric = new prom.Counter(configOf(name, options))
  }

  /** Adds 1, or as much as is said. */
  inc(...args: Given<Label, [by?: number]>): void {
    const [labels, by = 1] = this.given<[number?]>(args)
    this.metric.inc(labels, by)
  }
}

class DefinedGauge<Label extends string = never> extends Defined<Label> {
  readonly metric: prom.Gauge

  constructor(name: string, options: GaugeOptions<Label>) {
    super(name, options)
    const { aggregate = 'sum', read } = options
    this.metric = new prom.Gauge({
      ...configOf(name, options),
      aggregator: aggregate,
      ...(read && {
        collect() {
          // A gauge that cannot be read keeps its last value: the other metrics are exported all the same.
          try {
            this.set(read())
          } catch {}
        },
      }),
    })
  }

  set(...args: Given<Label, [value: number]>): void {
    const [labels, value] = this.given<[number]>(args)
    this.metric.set(labels, value)
  }

  inc(...args: Given<Label, [by?: number]>): void {
    const [labels, by = 1] = this.given<[number?]>(args)
    this.metric.inc(labels, by)
  }
}

class DefinedHistogram<Label extends string = never> extends Defined<Label> {
  readonly metric: prom.Histogram

  constructor(name: string, options: HistogramOptions<Label>) {
    super(name, options)
    const { buckets } = options
    this.metric = new prom.Histogram({
      ...configOf(name, options),
      enableExemplars: true,
      ...(buckets && { buckets: [...buckets] }),
    })
  }

  /** In a traced run the trace is kept as an exemplar. */
  observe(...args: Given<Label, [value: number]>): void {
    const [labels, value] = this.given<[number]>(args)
    const traceId = activeTrace()
    this.metric.observe({ labels, value, exemplarLabels: traceId === undefined ? {} : { trace_id: traceId } })
  }
}

const configOf = (name: string, { help, labels = [] }: MetricOptions<string>) => ({
  ...{ name, help, labelNames: [...labels], registers: [] },
})

export type { DefinedCounter, DefinedGauge, DefinedHistogram }

/** A metric of a program's own. */
export type DefinedMetric = DefinedCounter<string> | DefinedGauge<string> | DefinedHistogram<string>

/** Something that is counted and only grows. Its name should end in `_total`. */
export function defineCounter<Label extends string = never>(
  name: string,
  options: MetricOptions<Label>,
): DefinedCounter<Label> {
  return new DefinedCounter<Label>(name, options)
}

/** Something that rises and falls. */
export function defineGauge<Label extends string = never>(
  name: string,
  options: GaugeOptions<Label>,
): DefinedGauge<Label> {
  return new DefinedGauge<Label>(name, options)
}

/** Durations or sizes, counted in buckets. */
export function defineHistogram<Label extends string = never>(
  name: string,
  options: HistogramOptions<Label>,
): DefinedHistogram<Label> {
  return new DefinedHistogram<Label>(name, options)
}
