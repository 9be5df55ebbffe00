// Metrics as plain data: what a process sends to its supervisor, and what the page is written from.

export type FamilyType = 'counter' | 'gauge' | 'histogram' | 'summary'

/** How the values of several processes become one. */
export type Aggregate = 'sum' | 'max' | 'min' | 'average' | 'first'

/** In an order that is the same for all samples of a family. */
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
  const alone = new Map<string, Sample>()
  const several = new Map<string, Sample[]>()
  for (const { samples } of families) {
    for (const sample of samples) {
      const key = keyOf(sample)
      const other = alone.get(key)
      if (other === undefined) alone.set(key, sample)
      else several.set(key, [...(several.get(key) ?? [other]), sample])
    }
  }
  for (const [key, same] of several) alone.set(key, mergedSample(same, first.aggregate))
  return { ...first, samples: [...alone.values()] }
}

function mergedSample(samples: readonly Sample[], aggregate: Aggregate): Sample {
  const { suffix, labels } = samples[0] as Sample
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

/** Labels of a family always come in the same order. An empty label is the same as none. */
function keyOf({ suffix, labels }: Sample): string {
  let key = suffix
  for (const name in labels) if (labels[name] !== '') key += `\0${name}\0${labels[name]}`
  return key
}
