// Metrics as plain data: what a process sends to its supervisor, and what the page is written from.

export type FamilyType = 'counter' | 'gauge' | 'histogram' | 'summary'

/** How the values of several processes become one. */
export type Aggregate = 'sum' | 'max' | 'min' | 'average' | 'first'

export type Labels = Readonly<Record<string, string>>

export interface Exemplar {
  readonly labels: Labels
  readonly value: number
  /** Seconds since 1970. */
  readonly timestamp: number
}

export interface Sample {
  /** Behind the family's name: '_bucket', '_sum', '_count', or nothing. */
  readonly suffix: string
  readonly labels: Labels
  readonly value: number
  readonly exemplar?: Exemplar
}

export interface Family {
  readonly name: string
  readonly help: string
  readonly type: FamilyType
  readonly aggregate: Aggregate
  readonly samples: readonly Sample[]
}

/** All metrics of one process. */
export type Snapshot = readonly Family[]

/** The families of several processes as those of one. No series comes out twice, whatever goes in. */
export function merged(snapshots: readonly Snapshot[]): Snapshot {
  const byName = new Map<string, Family[]>()
  for (const family of snapshots.flat()) {
    const same = byName.get(family.name)
    if (same === undefined) byName.set(family.name, [family])
    else if (same[0]?.type === family.type) same.push(family)
  }
  return [...byName.values()].map(mergedFamily)
}

/** What counts on after a process has ended: its counters and histograms. */
export function lasting(snapshot: Snapshot): Snapshot {
  return snapshot.filter(({ type, aggregate }) => (type === 'counter' || type === 'histogram') && aggregate === 'sum')
}

function mergedFamily(families: readonly Family[]): Family {
  const [first] = families as [Family]
  const series = new Map<string, Sample[]>()
  for (const sample of families.flatMap(({ samples }) => samples)) {
    const key = keyOf(sample)
    const same = series.get(key)
    if (same === undefined) series.set(key, [sample])
    else same.push(sample)
  }
  return { ...first, samples: [...series.values()].map((same) => mergedSample(same, first.aggregate)) }
}

function mergedSample(samples: readonly Sample[], aggregate: Aggregate): Sample {
  const [first] = samples as [Sample]
  if (samples.length === 1) return first
  const { suffix, labels } = first
  const value = AGGREGATES[aggregate](samples.map((sample) => sample.value))
  const exemplar = newest(samples.flatMap((sample) => sample.exemplar ?? []))
  return exemplar === undefined ? { suffix, labels, value } : { suffix, labels, value, exemplar }
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

const AGGREGATES: Record<Aggregate, (values: readonly number[]) => number> = {
  sum,
  max: (values) => Math.max(...values),
  min: (values) => Math.min(...values),
  average: (values) => sum(values) / values.length,
  first: ([value]) => value as number,
}

const newest = (exemplars: readonly Exemplar[]): Exemplar | undefined =>
  [...exemplars].sort((a, b) => b.timestamp - a.timestamp)[0]

/** An empty label is the same as none. */
const keyOf = ({ suffix, labels }: Sample): string =>
  JSON.stringify([
    suffix,
    ...Object.entries(labels)
      .filter(([, value]) => value !== '')
      .sort(byName),
  ])

const byName = ([a]: readonly [string, string], [b]: readonly [string, string]): number => (a < b ? -1 : 1)
