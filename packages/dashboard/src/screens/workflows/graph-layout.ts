// Where the nodes and edges of a workflow's graph lie. Steps that do the same between the same steps are one node, so that 500 of
// them side by side can be read. The undos have a lane of their own, and go upwards.
import dagre from '@dagrejs/dagre'
import { rollbackOf } from './rollback.ts'
import type { Step, Times, WorkflowDetails } from './workflow-data.ts'

export interface GraphNode {
  readonly key: string
  readonly kind: 'step' | 'undo'
  /** One, or those that are shown as one. */
  readonly steps: readonly Step[]
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

export interface GraphEdge {
  readonly key: string
  readonly kind: 'forward' | 'undo'
  readonly path: string
}

export interface Graph {
  readonly nodes: readonly GraphNode[]
  readonly edges: readonly GraphEdge[]
  readonly width: number
  readonly height: number
}

const NODE = { width: 168, height: 50 }
/** A matrix of cells for its jobs below that. */
const CELLS = { most: 96, perRow: 24, gap: 6, row: 10 }
/** Fewer are nodes of their own. */
const ALIKE = 6
const LANE_GAP = 44
const UNDO_WIDTH = 132

export function graphOf(workflow: WorkflowDetails, times: readonly Times[]): Graph {
  const groups = grouped(workflow.steps, times)
  const { places, edges } = placesOf(groups)
  const nodes = groups.map(({ key, steps }): GraphNode => ({ key, kind: 'step', steps, ...(places.get(key) as Place) }))
  const forward = Math.max(0, ...nodes.map(({ x, width }) => x + width))
  const undo = undoLane(workflow, nodes, forward)
  const all = [...nodes, ...undo.nodes]
  return {
    nodes: all,
    edges: [...edges, ...undo.edges],
    width: Math.max(0, ...all.map(({ x, width }) => x + width)) + 2,
    height: Math.max(0, ...all.map(({ y, height }) => y + height)) + 2,
  }
}

function heightOf(steps: readonly Step[]): number {
  const cells = Math.min(CELLS.most, steps.length > 1 ? steps.length : (steps[0]?.jobs ?? 0))
  return cells > 1 ? NODE.height + CELLS.gap + Math.ceil(cells / CELLS.perRow) * CELLS.row : NODE.height
}

interface Place {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

interface Layout {
  readonly places: ReadonlyMap<string, Place>
  readonly edges: readonly GraphEdge[]
}

/** With more nodes a good layout takes seconds: they stand in rows. */
const MANY = 120
const GAP = { x: 14, y: 30 }
/** While a workflow runs, its graph stays as it is: it is laid out once. */
let last: { readonly structure: string; readonly layout: Layout } | undefined

function placesOf(groups: readonly Group[]): Layout {
  const structure = JSON.stringify(groups.map(({ key, steps }) => [key, heightOf(steps), steps[0]?.after]))
  if (last?.structure !== structure)
    last = { structure, layout: groups.length > MANY ? inRows(groups) : laidOut(groups) }
  return last.layout
}

function laidOut(groups: readonly Group[]): Layout {
  const layout = new dagre.graphlib.Graph<Record<string, unknown>>()
  layout.setGraph({ rankdir: 'TB', nodesep: GAP.x, ranksep: GAP.y, marginx: 2, marginy: 2 })
  layout.setDefaultEdgeLabel(() => ({}))
  const ownerOf = new Map(groups.flatMap(({ key, steps }) => steps.map(({ name }) => [name, key] as const)))
  for (const { key, steps } of groups) layout.setNode(key, { width: NODE.width, height: heightOf(steps) })
  for (const { key, steps } of groups)
    for (const parent of Object.keys(steps[0]?.after ?? {})) layout.setEdge(ownerOf.get(parent) as string, key)
  dagre.layout(layout)
  const places = groups.map(({ key }): [string, Place] => {
    const { x, y, width, height } = layout.node(key) as unknown as Place
    return [key, { x: x - width / 2, y: y - height / 2, width, height }]
  })
  const edges = layout.edges().map(({ v, w }): GraphEdge => {
    const { points } = layout.edge(v, w) as { points: { x: number; y: number }[] }
    return { key: `${v} ${w}`, kind: 'forward', path: smooth(points) }
  })
  return { places: new Map(places), edges }
}

/** Each below all that come before it. */
function inRows(groups: readonly Group[]): Layout {
  const ownerOf = new Map(groups.flatMap(({ key, steps }) => steps.map(({ name }) => [name, key] as const)))
  const parentsOf = ({ steps }: Group) => Object.keys(steps[0]?.after ?? {}).map((name) => ownerOf.get(name) as string)
  const rows: Group[][] = []
  const rowOf = new Map<string, number>()
  for (const group of groups) {
    const row = Math.max(-1, ...parentsOf(group).map((parent) => rowOf.get(parent) ?? -1)) + 1
    rowOf.set(group.key, row)
    rows[row] = [...(rows[row] ?? []), group]
  }
  const places = new Map<string, Place>()
  let y = 2
  for (const row of rows) {
    for (const [i, { key, steps }] of row.entries())
      places.set(key, { x: 2 + i * (NODE.width + GAP.x), y, width: NODE.width, height: heightOf(steps) })
    y += Math.max(...row.map(({ steps }) => heightOf(steps))) + GAP.y
  }
  const edges = groups.flatMap((group) =>
    parentsOf(group).map((parent): GraphEdge => {
      const [from, to] = [places.get(parent) as Place, places.get(group.key) as Place]
      const path = `M${from.x + from.width / 2} ${from.y + from.height}L${to.x + to.width / 2} ${to.y}`
      return { key: `${parent} ${group.key}`, kind: 'forward', path }
    }),
  )
  return { places, edges }
}

interface Group {
  key: string
  steps: Step[]
}

/** Steps of one type, after the same steps and before the same. */
function grouped(steps: readonly Step[], times: readonly Times[]): Group[] {
  const types = new Map(times.flatMap(({ name, kind, type }) => (kind === 'do' ? [[name, type] as const] : [])))
  const before = new Map<string, string[]>()
  for (const { name, after } of steps) {
    for (const parent of Object.keys(after)) before.set(parent, [...(before.get(parent) ?? []), name])
  }
  const groups = new Map<string, Step[]>()
  for (const step of steps) {
    const alike = [step.kind, types.get(step.name), Object.keys(step.after).sort(), before.get(step.name)]
    // What has not run has no type yet, and many jobs are a matrix of their own.
    const key = step.isList ? step.name : JSON.stringify(alike)
    groups.set(key, [...(groups.get(key) ?? []), step])
  }
  return [...groups.values()].flatMap((alike): Group[] =>
    alike.length >= ALIKE
      ? [{ key: (alike[0] as Step).name, steps: alike }]
      : alike.map((step) => ({ key: step.name, steps: [step] })),
  )
}

/** Beside the step that it undoes, each; from one to the next in the order of the rollback. */
function undoLane(workflow: WorkflowDetails, nodes: readonly GraphNode[], right: number) {
  const { done, now, next } = rollbackOf(workflow.steps)
  const isBack = workflow.status.startsWith('roll') || done.length > 0 || now !== undefined
  if (!isBack) return { nodes: [], edges: [] }
  const owners = new Map<string, GraphNode>()
  for (const node of nodes) for (const { name } of node.steps) owners.set(name, node)
  const placed: GraphNode[] = []
  const taken = new Map<number, number>()
  for (const step of [...done, ...(now ? [now] : []), ...next]) {
    const owner = owners.get(step.name) as GraphNode
    if (owner.steps.length > 1 && placed.some(({ steps }) => steps === owner.steps)) continue
    const beside = taken.get(owner.y) ?? 0
    taken.set(owner.y, beside + 1)
    placed.push({
      key: `undo ${step.name}`,
      kind: 'undo',
      steps: owner.steps.length > 1 ? owner.steps : [step],
      x: right + LANE_GAP + beside * (UNDO_WIDTH + 10),
      y: owner.y + (owner.height - NODE.height) / 2,
      width: UNDO_WIDTH,
      height: NODE.height,
    })
  }
  const edges = placed.slice(1).map((to, i): GraphEdge => {
    const from = placed[i] as GraphNode
    return { key: `${from.key} ${to.key}`, kind: 'undo', path: upwards(from, to) }
  })
  return { nodes: placed, edges }
}

function upwards(from: GraphNode, to: GraphNode): string {
  const start = { x: from.x + from.width / 2, y: from.y }
  if (to.y >= from.y) return `M${start.x} ${from.y + from.height / 2}H${to.x + (to.x > from.x ? 0 : to.width)}`
  const end = { x: to.x + to.width / 2, y: to.y + to.height }
  const middle = (start.y + end.y) / 2
  return `M${start.x} ${start.y}C${start.x} ${middle} ${end.x} ${middle} ${end.x} ${end.y}`
}

function smooth(points: readonly { x: number; y: number }[]): string {
  const [first, ...rest] = points
  if (first === undefined) return ''
  let path = `M${first.x} ${first.y}`
  for (let i = 0; i < rest.length - 1; i++) {
    const [a, b] = [rest[i] as { x: number; y: number }, rest[i + 1] as { x: number; y: number }]
    path += `Q${a.x} ${a.y} ${(a.x + b.x) / 2} ${(a.y + b.y) / 2}`
  }
  const last = rest.at(-1)
  return last === undefined ? path : `${path}L${last.x} ${last.y}`
}
