// Short ways to make families.
import type { Aggregate, Family, Labels, Sample } from './family.ts'

export type Values = readonly (readonly [labels: Labels, value: number])[]

const plain = (values: Values): Sample[] => values.map(([labels, value]) => ({ suffix: '', labels, value }))

export const counter = (name: string, help: string, values: Values): Family => ({
  ...{ name, help, type: 'counter', aggregate: 'sum' },
  samples: plain(values),
})

export const gauge = (name: string, help: string, values: Values, aggregate: Aggregate = 'sum'): Family => ({
  ...{ name, help, type: 'gauge', aggregate },
  samples: plain(values),
})

export const histogram = (name: string, help: string, samples: readonly Sample[]): Family => ({
  ...{ name, help, type: 'histogram', aggregate: 'sum' },
  samples,
})
