// What programs have registered, as families.
import type { MetricObjectWithValues, MetricValue, Registry } from 'prom-client'
import { boundText } from './exposition.ts'
import type { Aggregate, Family, FamilyType, Sample } from './family.ts'

const AGGREGATES: readonly string[] = ['sum', 'max', 'min', 'average', 'first'] satisfies Aggregate[]

type Values = MetricObjectWithValues<MetricValue<string>> & { readonly aggregator: string }
type Value = MetricValue<string> & {
  readonly metricName?: string
  readonly exemplar?: { labelSet: Record<string, string>; value: number; timestamp: number } | null
}

export async function registeredFamilies(registry: Registry): Promise<Family[]> {
  const metrics = (await registry.getMetricsAsJSON()) as unknown as Values[]
  return metrics.map(({ name, help, type, aggregator, values }) => ({
    ...{ name, help },
    type: String(type) as FamilyType,
    aggregate: (AGGREGATES.includes(aggregator) ? aggregator : 'first') as Aggregate,
    samples: (values as Value[]).map((value) => sampleOf(name, value)),
  }))
}

function sampleOf(name: string, { metricName = name, labels, value, exemplar }: Value): Sample {
  const texts = Object.fromEntries(
    Object.entries(labels)
      .sort(byName)
      .map(([label, each]) => [label, typeof each === 'number' ? boundText(each) : String(each)]),
  )
  const sample = { suffix: metricName.slice(name.length), labels: texts, value }
  if (!exemplar) return sample
  const { labelSet, value: seen, timestamp } = exemplar
  return { ...sample, exemplar: { labels: labelSet, value: seen, timestamp } }
}

/** Callers of prom-client name labels in any order. The bound of a bucket comes last, as it does everywhere. */
const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => {
  if ((a === 'le') !== (b === 'le')) return a === 'le' ? 1 : -1
  return a < b ? -1 : 1
}
