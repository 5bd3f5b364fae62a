"""What one plays with in JupyterLab: explorables and the chat, over the engine and the plots."""

from ilstma_lab.widgets.break_even import BreakEven
from ilstma_lab.widgets.chat import ChatLab
from ilstma_lab.widgets.curve_picker import CurvePicker
from ilstma_lab.widgets.explorable import Explorable
from ilstma_lab.widgets.fit_lab import FitLab
from ilstma_lab.widgets.forgetting_bank import ForgettingBank
from ilstma_lab.widgets.hand_grader import HandGrader
from ilstma_lab.widgets.inspector import TableInspector
from ilstma_lab.widgets.light_figure import LightFigure
from ilstma_lab.widgets.player import Player
from ilstma_lab.widgets.policy_race import PolicyRace
from ilstma_lab.widgets.retrieval_cases import RetrievalCases
from ilstma_lab.widgets.score_strip import ScoreStrip
from ilstma_lab.widgets.segment_panel import SegmentPanel
from ilstma_lab.widgets.sigmoid_explorer import SigmoidExplorer
from ilstma_lab.widgets.summary_stepper import SummaryStepper
from ilstma_lab.widgets.what_if import WhatIf
from ilstma_lab.widgets.window_tuner import WindowTuner

__all__ = [
    "BreakEven",
    "ChatLab",
    "CurvePicker",
    "Explorable",
    "FitLab",
    "ForgettingBank",
    "HandGrader",
    "LightFigure",
    "Player",
    "PolicyRace",
    "RetrievalCases",
    "ScoreStrip",
    "SegmentPanel",
    "SigmoidExplorer",
    "SummaryStepper",
    "TableInspector",
    "WhatIf",
    "WindowTuner",
]
