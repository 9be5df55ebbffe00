// Runs the benchmark program as users do.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, inject } from 'vitest'

const program = fileURLToPath(new URL('../dist/main.js', import.meta.url))

/** On the tests' own server, unless the suite needs one with other settings: then it starts its own. */
export async function bench(args: readonly string[], options: { ownServer?: boolean } = {}) {
  const env = { ...process.env, DATABASE_URL: options.ownServer ? '' : inject('serverUrl') }
  const child = spawn(process.execPath, [program, ...args], { env })
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { out, err, code }
}

interface Figures {
  name: string
  median: number
  min: number
  max: number
  values: number[]
}

interface JsonReport {
  measurements: (Figures & { unit: string })[]
  ratios: (Figures & { target?: object; isMet?: boolean })[]
  details?: Record<string, unknown>
  notes?: string[]
}

/** The report of a run that must succeed. Every figure in it is a number above 0, unless it may be 0. */
export async function reportOf(
  args: readonly string[],
  options: { ownServer?: boolean; mayBeZero?: RegExp } = {},
): Promise<JsonReport> {
  const { code, out, err } = await bench([...args, '--json'], options)
  expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' })
  const report: JsonReport = JSON.parse(out)
  expect(report).toMatchObject({ suite: args[0], environment: { node: process.versions.node } })
  for (const { name, median, min, max, values } of [...report.measurements, ...report.ratios]) {
    for (const value of [median, min, max, ...values]) {
      expect(value, name).toSatisfy(Number.isFinite)
      expect(value, name).toBeGreaterThan(options.mayBeZero?.test(name) ? -Number.MIN_VALUE : 0)
    }
  }
  return report
}

export const names = (figures: readonly { name: string }[]): string[] => figures.map(({ name }) => name)
