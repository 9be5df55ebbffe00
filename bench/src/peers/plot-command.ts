// npm run bench -- plot <peers.json> [page.md]
import { readFileSync, writeFileSync } from 'node:fs'
import type { PeersReport } from './document.ts'
import { figuresTable } from './figures-table.ts'
import { plotOf } from './plot.ts'

const BEGIN = '<!-- figures: written by npm run bench -- plot -->'
const END = '<!-- end of figures -->'

/** Its message says what to change, and is all that is printed. */
export class CannotPlot extends Error {}

/** Draws next to the JSON, and replaces the figures of the page, if one is named. */
export function plot([file, page, ...rest]: readonly string[]): void {
  if (file === undefined || rest.length > 0) throw new CannotPlot('usage: npm run bench -- plot <peers.json> [page.md]')
  const report = read(file)
  const picture = file.replace(/(\.json)?$/, '.svg')
  writeFileSync(picture, plotOf(report))
  process.stderr.write(`wrote ${picture}\n`)
  if (page === undefined) return
  writeFileSync(page, withFigures(contentOf(page), figuresTable(report), page))
  process.stderr.write(`wrote the figures into ${page}\n`)
}

function read(file: string): PeersReport {
  const report = parsed(file)
  const missing = ['ours', 'oursOnInstalledNode', 'peers', 'raw', 'ratios', 'environment', 'contestants'].filter(
    (key) => !(key in report),
  )
  if (missing.length === 0) return report as PeersReport
  throw new CannotPlot(`${file} is not what "peers --json" prints: it has no ${missing.join(', ')}.`)
}

function parsed(file: string): object {
  try {
    return Object(JSON.parse(contentOf(file)))
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new CannotPlot(`${file} is not JSON. npm prints lines of its own before it, unless called with --silent.`)
  }
}

function contentOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new CannotPlot(`${file} cannot be read: ${(error as Error).message}`)
  }
}

export function withFigures(text: string, figures: string, page: string): string {
  const from = text.indexOf(BEGIN)
  const to = text.indexOf(END)
  if (from < 0 || to < from) throw new CannotPlot(`${page} has no place for the figures: "${BEGIN}" and "${END}".`)
  return `${text.slice(0, from)}${BEGIN}\n\n${figures}\n\n${text.slice(to)}`
}
