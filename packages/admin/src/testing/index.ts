// For tests of workloads.
export { type RoleWalk, type RoleWalkOptions, type WalkRequest, walkRoles } from './role-walk.ts'
