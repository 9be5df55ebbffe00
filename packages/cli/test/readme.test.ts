import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { program } from '#src/main'

const text = readFileSync(new URL('../README.md', import.meta.url), 'utf8')

/** The row of the table that begins with this command. */
const rowOf = (name: string): string =>
  text.split('\n').find((line) => new RegExp(`^\\| \`${name}[ \`]`).test(line)) ?? ''

test('the README has a row for every command, which names its subcommands', () => {
  const missing = program().commands.flatMap((command) => {
    const row = rowOf(command.name())
    if (row === '') return [command.name()]
    const subcommands = command.commands.map((each) => each.name())
    return subcommands
      .filter((name) => !new RegExp(`\`${name}[ \`]`).test(row))
      .map((name) => `${command.name()} ${name}`)
  })
  expect(missing).toEqual([])
})

test('the README names no command that does not exist', () => {
  const named = [...text.matchAll(/^\| `([a-z-]+)/gm)].map((match) => match[1])
  const commands = program().commands.map((command) => command.name())
  expect(named.filter((name) => name !== undefined && !commands.includes(name))).toEqual([])
})
