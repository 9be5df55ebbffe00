import { testScenarios } from './scenario-suite.ts'

testScenarios('f12', 'f13', 'f14', 'f19', 'f21', 'f21b')
