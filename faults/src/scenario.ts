// What a scenario is, and what it reports: criteria that hold or do not, and figures that explain them.
import type { MutationName } from './harness/mutations.ts'
import type { FaultServer } from './harness/server.ts'

/** short: for the test run. standard: a few minutes. full: the numbers of the fault table. */
export type Scale = 'short' | 'standard' | 'full'

export interface ScenarioOptions {
  server: FaultServer
  scale: Scale
  /** Breaks the engine on purpose: the scenario must then fail. */
  mutation?: MutationName | undefined
  seed: number
  /** Progress, for people. */
  note(text: string): void
}

type Mutations = Readonly<Partial<Record<MutationName, string>>>

export interface Scenario {
  readonly name: string
  readonly title: string
  /** Under each of these the scenario must go red, and at this criterion: red for another reason proves nothing. */
  readonly mutations: Mutations
  run(options: ScenarioOptions): Promise<Report>
}

export interface Criterion {
  name: string
  isMet: boolean
  detail: string
}

export type Figure = number | string

export interface Report {
  scenario: string
  mutation: MutationName | null
  isGreen: boolean
  /** Healthy: green. Under a mutation: red where it must be. */
  isAsExpected: boolean
  criteria: Criterion[]
  figures: Record<string, Figure>
  seconds: number
}

/** Collects what a scenario finds out. */
export class Findings {
  readonly #criteria: Criterion[]
  readonly #figures: Record<string, Figure>
  readonly #prefix: string

  constructor(criteria: Criterion[] = [], figures: Record<string, Figure> = {}, prefix = '') {
    this.#criteria = criteria
    this.#figures = figures
    this.#prefix = prefix
  }

  /** The same findings, for a part of the scenario: its criteria and figures carry its name. */
  of(part: string): Findings {
    return new Findings(this.#criteria, this.#figures, `${part}: `)
  }

  check(name: string, isMet: boolean, detail: string | number = ''): void {
    this.#criteria.push({ name: this.#prefix + name, isMet, detail: String(detail) })
  }

  equal(name: string, actual: number | string | undefined, expected: number | string): void {
    this.check(name, actual === expected, `${actual}, expected ${expected}`)
  }

  atMost(name: string, actual: number, limit: number, unit = ''): void {
    this.check(name, actual <= limit, `${round(actual)}${unit} of at most ${round(limit)}${unit}`)
  }

  figure(name: string, value: Figure): void {
    this.#figures[this.#prefix + name] = typeof value === 'number' ? round(value) : value
  }

  figures(values: Record<string, Figure>): void {
    for (const [name, value] of Object.entries(values)) this.figure(name, value)
  }

  get criteria(): Criterion[] {
    return this.#criteria
  }

  get allFigures(): Record<string, Figure> {
    return this.#figures
  }
}

/** Ties a body to its name; a body that throws is a failed scenario, not a failed suite. */
export function defineScenario(
  definition: Pick<Scenario, 'name' | 'title' | 'mutations'> & {
    body(options: ScenarioOptions, findings: Findings): Promise<void>
  },
): Scenario {
  const { name, title, mutations, body } = definition
  return {
    name,
    title,
    mutations,
    async run(options) {
      const began = performance.now()
      const findings = new Findings()
      try {
        await body(options, findings)
      } catch (error) {
        findings.check(
          'runs to its end',
          false,
          error instanceof Error ? (error.stack ?? error.message) : String(error),
        )
      }
      const { criteria, allFigures: figures } = findings
      const isGreen = criteria.length > 0 && criteria.every((criterion) => criterion.isMet)
      const { mutation } = options
      const isRedAsItMust = criteria.some(
        (criterion) => !criterion.isMet && criterion.name === mutations[mutation as never],
      )
      return {
        scenario: name,
        mutation: mutation ?? null,
        isGreen,
        isAsExpected: mutation === undefined ? isGreen : isRedAsItMust,
        criteria,
        figures,
        seconds: round((performance.now() - began) / 1_000),
      }
    },
  }
}

const round = (value: number): number => Math.round(value * 100) / 100
