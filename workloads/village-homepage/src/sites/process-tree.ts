// The processes below one, and their memory, by /proc. Elsewhere than on Linux nothing is known.
import { readdirSync, readFileSync } from 'node:fs'

/** `pid` itself, and all that descend from it. */
export function treeOf(pid: number): number[] {
  const children = new Map<number, number[]>()
  for (const child of allPids()) {
    const parent = parentOf(child)
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), child])
  }
  const tree = [pid]
  for (const each of tree) tree.push(...(children.get(each) ?? []))
  return tree
}

/** Megabytes that are theirs alone: code and files that processes share would count once for each. */
export function ownMemoryMb(pids: readonly number[]): number {
  const kb = pids.map((pid) => {
    const status = read(`/proc/${pid}/status`)
    return (
      Number(/^RssAnon:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) + Number(/^RssShmem:\s+(\d+) kB/m.exec(status)?.[1] ?? 0)
    )
  })
  return kb.reduce((sum, each) => sum + each, 0) / 1024
}

function allPids(): number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
  } catch {
    return []
  }
}

/** The name of a program may contain blanks and brackets: the fields begin behind the last one. */
function parentOf(pid: number): number | undefined {
  const stat = read(`/proc/${pid}/stat`)
  const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  return Number.isInteger(parent) ? parent : undefined
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
