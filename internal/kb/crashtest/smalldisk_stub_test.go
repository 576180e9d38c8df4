package crashtest

func onSmallDisk() int { return 2 }
