"""MemoryBank (Zhong et al. 2023) in full but for its tuning of open models, and its companion SiliconFriend."""

from ilstma_lab.systems.memorybank.bank import MemoryBank
from ilstma_lab.systems.memorybank.companion import SiliconFriend, companion
from ilstma_lab.systems.memorybank.forgetting import Forgetting
from ilstma_lab.systems.memorybank.settings import MemoryBankSettings

__all__ = ["Forgetting", "MemoryBank", "MemoryBankSettings", "SiliconFriend", "companion"]
